#include "doctor/doctor.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "base/text.h"
#include "observe/kernel_config.h"
#include "perf/event/event_fd.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"
#include "tracepoints/probe/uprobe_pmu.h"

namespace memtrace {
namespace {

constexpr std::string_view kHeapNeed = "heap:";
constexpr std::size_t kMissingShown = 8;

// Asked for the same event by many views.
class LocalEvents {
 public:
  explicit LocalEvents(const PerfCalls& calls)
      : calls_(calls), root_(mounted_tracefs_root()), files_(root_) {
    auto features = probe_features(calls);
    may_open_ = features.ok();
    features_ = features.ok() ? features.take() : AttrFeatures();
  }

  bool can_open(std::string_view event) {
    const auto [known, is_new] = known_.try_emplace(std::string(event));
    if (is_new) {
      known->second = may_open_ && try_open(std::string(event));
    }
    return known->second;
  }

 private:
  bool try_open(const std::string& event) {
    if (event.starts_with(kHeapNeed)) {
      return !user_probes_fact().stands_in_way;
    }
    EventRequest request{.info = {.name = event}};
    request.stacks = false;
    if (const auto software = find_software_event(event)) {
      request.info.kind = EventKind::Software;
      request.info.config = software->config;
      request.type = kTypeSoftware;
      return opens(request);
    }
    if (root_.empty() || !files_.has(event)) {
      return false;
    }
    // The kernel allows a group of tracepoints or none of it, and to close one it waits until no
    // CPU can still be in it (tracepoint_synchronize_unregister): 30 ms, for each of a hundred.
    const std::string group = event.substr(0, event.find(':'));
    const auto [known, is_new] = groups_.try_emplace(group);
    if (is_new) {
      known->second = opens_tracepoint(request);
    }
    return known->second;
  }

  bool opens_tracepoint(EventRequest& request) const {
    const auto events = files_.find_events(request.info.name);
    if (events.empty()) {
      return false;
    }
    const auto id = files_.event_id(events.front());
    if (!id.ok()) {
      return false;
    }
    request.info.kind = EventKind::Tracepoint;
    request.info.config = id.value();
    request.type = kTypeTracepoint;
    return opens(request);
  }

  // On this very task, and without the kernel where that is not allowed.
  bool opens(const EventRequest& request) const {
    perf_event_attr attr = make_attr(request, {.features = features_});
    if (opens(attr, request.info.name)) {
      return true;
    }
    attr.exclude_kernel = 1;
    return opens(attr, request.info.name);
  }

  // Linux before 3.14 refuses the flag that it does not know with EINVAL, as it does an event.
  bool opens(const perf_event_attr& attr, const std::string& name) const {
    const KernelInterface kernel{.calls = &calls_, .knows_cloexec = features_.cloexec};
    return EventFd::open(attr, {.tid = 0}, name, kernel).ok();
  }

  const PerfCalls& calls_;
  std::string root_;
  TracepointFiles files_;
  AttrFeatures features_;
  bool may_open_ = false;  // perf_event_open(2) can be used at all
  std::map<std::string, bool> known_;
  std::map<std::string, bool> groups_;
};

Table facts_table(const std::vector<Fact>& facts) {
  Table table{.title = "this machine", .key_count = 1, .fixed = true, .entries = true};
  table.columns = {{"fact", Unit::Text}, {"value", Unit::Text}, {"advice", Unit::Text}};
  for (const Fact& fact : facts) {
    table.rows.push_back({std::string(name_of(fact.id)), fact.value, fact.advice});
  }
  return table;
}

Table views_table(const std::vector<ViewDiagnosis>& views) {
  Table table{.title = "views", .key_count = 1, .fixed = true, .entries = true};
  table.columns = {{"view", Unit::Text},
                   {"state", Unit::Text},
                   {"findings", Unit::Text},
                   {"events", Unit::Text}};
  for (const ViewDiagnosis& view : views) {
    table.rows.push_back({std::string(view.view),
                          std::string(name_of(view.state)),
                          text_of(view.findings),
                          join(view.events, " ")});
  }
  return table;
}

bool local_field(std::string_view event, std::string_view field) {
  const auto text = TracepointFiles(mounted_tracefs_root()).event_format_text(event);
  const auto format = text.ok() ? parse_format(text.value(), event.substr(0, event.find(':')))
                                : Result<EventFormat>(text.error());
  return format.ok() && format.value().find(field) != nullptr;
}

const Fact& fact_of(std::span<const Fact> facts, FactId id) {
  static const Fact none;
  const auto found = std::ranges::find(facts, id, &Fact::id);
  return found == facts.end() ? none : *found;
}

// The first thing that stands in the way, nearest to the kernel first.
std::string remedy_in(std::span<const Fact> facts, const ViewDiagnosis& view) {
  if (const Fact& perf = fact_of(facts, FactId::PerfEvents); perf.stands_in_way) {
    return perf.advice;
  }
  const bool wants_probes =
      std::ranges::find(view.findings, FindingKind::NeedsProbe, &EventFinding::kind) !=
      view.findings.end();
  for (const FactId id :
       {wants_probes ? FactId::UserProbes : FactId::TracingDirectory, FactId::Capabilities}) {
    if (const std::string& advice = fact_of(facts, id).advice; !advice.empty()) {
      return advice;
    }
  }
  return "no setting changes that: the kernel was built without it";
}

// The events that the views prefer and that are missing.
Fact events_fact(std::span<const NamedView> views, const CanOpen& can_open) {
  std::set<std::string> wanted;
  std::vector<std::string> missing;
  const auto look_at = [&](const NeedState& need) {
    const bool is_event = need.wanted.find(':') != std::string::npos &&
                          !need.wanted.starts_with(kHeapNeed) && !need.wanted.starts_with("sdt:");
    if (is_event && wanted.insert(need.wanted).second && need.chosen != need.wanted) {
      missing.push_back(need.wanted);
    }
  };
  for (const NamedView& view : views) {
    std::ranges::for_each(examine_needs(view.spec.needs, can_open), look_at);
  }
  const auto shown = std::span(missing).first(std::min(missing.size(), kMissingShown));
  return {FactId::Events,
          fmt::format(
              "{} of the {} that the views prefer", wanted.size() - missing.size(), wanted.size()) +
              (missing.empty() ? "" : "; missing: " + join(shown, ", ")) +
              (shown.size() == missing.size() ? "" : " and others"),
          ""};
}

}  // namespace

std::string text_of(const std::vector<EventFinding>& findings) {
  std::vector<std::string> texts;
  texts.reserve(findings.size());
  for (const EventFinding& finding : findings) {
    texts.push_back(finding.text);
  }
  return join(texts, "; ");
}

std::string_view name_of(ViewState state) {
  constexpr std::array<std::string_view, 3> kNames = {"works", "in part", "cannot"};
  return kNames[static_cast<std::size_t>(state)];
}

CanOpen local_events(const PerfCalls& calls) {
  return [events = std::make_shared<LocalEvents>(calls)](std::string_view event) {
    return events->can_open(event);
  };
}

Diagnosis diagnose_machine(std::span<const NamedView> views) {
  Diagnosis diagnosis{.facts = system_facts()};
  for (Fact& fact : tracing_facts()) {
    diagnosis.facts.push_back(std::move(fact));
  }
  const CanOpen can_open = local_events();
  diagnosis.facts.push_back(events_fact(views, can_open));
  const auto why_not = [config = KernelConfig::of_machine()](std::string_view event) {
    return config.reason_against(event);
  };
  for (const NamedView& view : views) {
    ViewDiagnosis& one =
        diagnosis.views.emplace_back(diagnose(view, can_open, local_field, why_not));
    if (one.state == ViewState::Cannot) {
      one.findings.push_back({FindingKind::Remedy, remedy_in(diagnosis.facts, one)});
    }
  }
  return diagnosis;
}

Report to_report(const Diagnosis& diagnosis) {
  Report report{
      .view = "doctor", .title = "what memtrace can do on this machine", .is_of_events = false};
  report.tables = {facts_table(diagnosis.facts), views_table(diagnosis.views)};
  for (const ViewState state : {ViewState::Works, ViewState::WorksInPart, ViewState::Cannot}) {
    const auto count = std::count_if(
        diagnosis.views.begin(), diagnosis.views.end(), [state](const ViewDiagnosis& view) {
          return view.state == state;
        });
    report.totals.push_back(
        {std::string(name_of(state)), Unit::Count, static_cast<std::uint64_t>(count)});
  }
  return report;
}

}  // namespace memtrace
