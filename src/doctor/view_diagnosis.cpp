// The doctor's findings about one view: the substitutes for events that this kernel lacks, and what
// is not known without them.
#include <algorithm>
#include <utility>

#include "doctor/doctor.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

constexpr std::string_view kHeapFunction = "heap:";
constexpr std::string_view kStaticProbe = "sdt:";

// "group:name" without its group: events that moved, and those that were renamed, tell the same.
std::string_view without_group(std::string_view event) {
  return event.substr(event.find(':') + 1);
}

bool tells_the_same(std::string_view chosen, std::string_view wanted) {
  const Tracepoint* tracepoint = find_tracepoint(chosen);
  return without_group(chosen) == without_group(wanted) ||
         (tracepoint != nullptr && tracepoint->newer_name == wanted);
}

// What is not known without the event, whatever there is in its place.
std::string_view meaning_of(std::string_view event) {
  const Tracepoint* tracepoint = find_tracepoint(event);
  return tracepoint == nullptr ? std::string_view() : tracepoint->when_missing;
}

bool is_obstacle(FindingKind kind) {
  return kind == FindingKind::NeedsEvent || kind == FindingKind::NeedsProbe;
}

ViewState state_of(FindingKind kind) {
  if (is_obstacle(kind)) {
    return ViewState::Cannot;
  }
  return kind == FindingKind::OtherName ? ViewState::Works : ViewState::WorksInPart;
}

class Findings {
 public:
  explicit Findings(ViewDiagnosis& diagnosis, std::string reason = "")
      : diagnosis_(diagnosis), reason_(std::move(reason)) {}

  void note(FindingKind kind, std::string text) {
    text += reason_.empty() ? "" : " (" + reason_ + ")";
    diagnosis_.state = std::max(diagnosis_.state, state_of(kind));
    if (std::ranges::find(diagnosis_.findings, text, &EventFinding::text) ==
        diagnosis_.findings.end()) {
      diagnosis_.findings.push_back({kind, std::move(text)});
    }
  }

 private:
  ViewDiagnosis& diagnosis_;
  std::string reason_;  // of what is missing
};

void note_substitute(const NeedState& need, Findings& findings) {
  const std::string_view meaning = meaning_of(need.wanted);
  if (is_raw_call_event(need.chosen)) {
    findings.note(FindingKind::Substitute,
                  need.chosen.substr(0, need.chosen.find(':') + 1) +
                      "sys_enter and sys_exit in place of one event for each system call: calls of "
                      "32-bit programs are decoded wrongly");
  } else if (need.chosen.empty()) {
    if (!meaning.empty()) {
      findings.note(FindingKind::Missing, "no " + need.wanted + ": " + std::string(meaning));
    }
  } else if (tells_the_same(need.chosen, need.wanted)) {
    findings.note(FindingKind::OtherName, need.chosen + " in place of " + need.wanted);
  } else {
    findings.note(FindingKind::Substitute,
                  need.chosen + " in place of " + need.wanted +
                      (meaning.empty() ? "" : ": " + std::string(meaning)));
  }
}

void diagnose_need(const NeedState& need, const WhyNot& why_not, ViewDiagnosis& diagnosis) {
  const bool is_missing = need.chosen != need.wanted;
  Findings findings(diagnosis, is_missing && why_not ? why_not(need.wanted) : "");
  const bool is_static_probe = need.wanted.starts_with(kStaticProbe);
  if (need.chosen.empty() && !need.may_be_missing) {
    if (need.wanted.starts_with(kHeapFunction)) {
      findings.note(FindingKind::NeedsProbe,
                    "user probes are not available (see 'user probes' in memtrace doctor)");
    } else if (is_static_probe) {
      findings.note(FindingKind::Missing, "only for programs whose libc has static probes");
    } else {
      findings.note(FindingKind::NeedsEvent,
                    need.wanted + " is not available, and there is no substitute");
    }
    return;
  }
  if (!need.chosen.empty()) {
    diagnosis.events.push_back(need.chosen);
  }
  const auto software = find_software_event(need.wanted);
  const bool is_first = need.chosen == need.wanted || (software && need.chosen == software->name);
  // Whether there are static probes the target decides, not the machine.
  if (!is_first && (!is_static_probe || is_raw_call_event(need.chosen))) {
    note_substitute(need, findings);
  }
}

void diagnose_fields(const HasField& has_field, ViewDiagnosis& diagnosis) {
  Findings findings(diagnosis);
  for (const std::string& event : diagnosis.events) {
    const Tracepoint* tracepoint = find_tracepoint(event);
    const OptionalField field =
        tracepoint == nullptr ? OptionalField() : tracepoint->optional_field;
    if (!field.name.empty() && !has_field(event, field.name)) {
      findings.note(FindingKind::NoField,
                    "no field '" + std::string(field.name) + "' in " + event + ": " +
                        std::string(field.when_missing));
    }
  }
}

// Such an event only adds to what others say. A kernel without it has nothing to add.
bool only_adds_to_others(const ViewSpec& spec, std::string_view event) {
  return std::ranges::any_of(spec.parts, [event](const EventNarrowing& part) {
    return part.event == event && part.needs_field;
  });
}

}  // namespace

ViewDiagnosis diagnose(const NamedView& view,
                       const CanOpen& can_open,
                       const HasField& has_field,
                       const WhyNot& why_not) {
  ViewDiagnosis diagnosis{.view = view.name};
  for (NeedState& need : examine_needs(view.spec.needs, can_open)) {
    // Every kernel has the software events, but not everybody may open them.
    if (find_software_event(need.chosen) && !can_open(need.chosen)) {
      need.chosen.clear();
    }
    if (!need.chosen.empty() || !only_adds_to_others(view.spec, need.wanted)) {
      diagnose_need(need, why_not, diagnosis);
    }
  }
  if (diagnosis.state == ViewState::Cannot) {
    std::erase_if(diagnosis.findings,
                  [](const EventFinding& finding) { return !is_obstacle(finding.kind); });
  } else if (has_field) {
    diagnose_fields(has_field, diagnosis);
  }
  return diagnosis;
}

}  // namespace memtrace
