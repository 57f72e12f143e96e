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

struct ViewDiagnosis {
  std::string_view view;
  ViewState state = ViewState::Works;
  std::vector<std::string> events;    // what it would record
  std::vector<std::string> findings;  // substitutes, what is missing and what that means
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

// Of this machine, as this user. `calls` outlive what is returned.
CanOpen local_events(const PerfCalls& calls = system_perf_calls());

struct Diagnosis {
  std::vector<Fact> facts;
  std::vector<ViewDiagnosis> views;
};

Diagnosis diagnose_machine(std::span<const NamedView> views);

// "works", "in part", "cannot".
std::string_view name_of(ViewState state);

Report to_report(const Diagnosis& diagnosis);

}  // namespace memtrace
