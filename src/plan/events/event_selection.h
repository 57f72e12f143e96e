// From what the user named, or the view needs, to the events that this kernel has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/live/wanted_events.h"
#include "perf/target/target.h"
#include "plan/probes/kernel_probes.h"
#include "plan/probes/user_probes.h"

namespace memtrace {

struct EventSelection {
  std::vector<std::string>
      events;  // "kmem:kmalloc", "vmscan:*", "minor-faults", "uprobe:libc:malloc", "sdt:..."
  std::vector<std::string> views;                   // whose needs are to be met
  std::vector<std::string> views_if_possible = {};  // those of which the kernel has the events
  std::string filter;                               // for every tracepoint that has its fields
  std::vector<std::string> comms = {};              // threads whose events the kernel records
  std::uint64_t period = 1;
  Target target = {};    // whose files are probed
  HeapNeeds heap = {};   // limits and ways; what is needed is added from the views
  bool kprobes = false;  // may probe the kernel where no tracepoint exists
  // Nothing is mounted, defined or removed, and what this user may not see is taken to be there.
  bool plan_only = false;
};

// With what else is needed to define them and to store them.
struct SelectedEvents : WantedEvents {
  // Texts of tracefs that a file must hold; empty when no tracepoint was selected.
  std::string header_page;
  std::string header_event;
  std::shared_ptr<UserProbes> probes;           // must outlive the events; null without user probes
  std::shared_ptr<KernelProbes> kernel_probes;  // the same
  std::map<std::string, std::string> filters;   // of events that the views need only a part of
  bool resident_pages = false;                  // a view needs what /proc says is resident
  std::string unseen;  // of a plan: why the kernel's events could not be looked at; else ""
};

// Usage, with the nearest names, of which there may be more than those of the views.
Error unknown_view(const std::string& name, std::span<const std::string> more_names = {});

// Those that were named, and those of the views. Error: Usage, without EventSelection::kprobes.
Result<> add_kernel_probes(const EventSelection& selection, SelectedEvents& selected);

// Without events and views: the default set. Error: Usage, for an unknown view or event with the
// nearest names; Failed, when tracefs cannot be used.
Result<SelectedEvents> select_events(const EventSelection& selection);

}  // namespace memtrace
