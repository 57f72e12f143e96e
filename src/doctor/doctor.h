// `memtrace doctor`: what this machine lets memtrace do, view by view, and what would change it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "perf/event/perf_calls.h"
#include "report/report.h"
#include "views/all/all_views.h"

namespace memtrace {

enum class ViewState : std::uint8_t { Works, WorksInPart, Cannot };

enum class FindingKind : std::uint8_t {
  OtherName,   // the event has an older name or another group: nothing is lost
  Substitute,  // another event is in its place
  Missing,     // the view works without it, and knows less
  NoField,     // the event lacks a field
  NeedsEvent,  // the view cannot work without it
  NeedsProbe,  // it cannot work without user probes
  Remedy,      // what would change it
};

struct EventFinding {
  FindingKind kind = FindingKind::Missing;
  std::string text;
};

struct ViewDiagnosis {
  std::string_view view;
  ViewState state = ViewState::Works;
  std::vector<std::string> events;  // what it would record
  std::vector<EventFinding> findings;
};

// What can be opened here: events by name, and "heap:" for probes on allocators.
using CanOpen = std::function<bool(std::string_view)>;

// Whether an event that can be opened has this field.
using HasField = std::function<bool(std::string_view event, std::string_view field)>;

// Why the kernel has no such event, where that is known; else "".
using WhyNot = std::function<std::string(std::string_view event)>;

// Without has_field nothing is said of fields.
ViewDiagnosis diagnose(const NamedView& view,
                       const CanOpen& can_open,
                       const HasField& has_field = {},
                       const WhyNot& why_not = {});

// The diagnosis of this machine for this user. `calls` outlive what is returned.
CanOpen local_events(const PerfCalls& calls = system_perf_calls());

struct Diagnosis {
  std::vector<Fact> facts;
  std::vector<ViewDiagnosis> views;
};

Diagnosis diagnose_machine(std::span<const NamedView> views);

// The findings' texts, in one line.
std::string text_of(const std::vector<EventFinding>& findings);

// "works", "in part", "cannot".
std::string_view name_of(ViewState state);

Report to_report(const Diagnosis& diagnosis);

}  // namespace memtrace
