#include "watch/watch_diagnosis.h"

#include <algorithm>

#include "os/system.h"
#include "watch/machine_levels.h"
#include "watch/resident_sizes.h"
#include "watch/trigger.h"

namespace memtrace {
namespace {

WatchAbility ability(const std::string& name, bool works, const std::string& finding) {
  return {name, works ? ViewState::Works : ViewState::Cannot, works ? "" : finding};
}

WatchAbility by_view(const Trigger& trigger, std::span<const ViewDiagnosis> views) {
  const auto view = std::ranges::find(views, trigger.view(), &ViewDiagnosis::view);
  return view == views.end() ? ability(trigger.label(), false, "its events were not looked for")
                             : WatchAbility{trigger.label(), view->state, text_of(view->findings)};
}

WatchAbility by_proc(const Trigger& trigger, const MachineLevels& levels, const std::string& proc) {
  switch (trigger.kind) {
    case TriggerKind::SwapIn:
      return ability(trigger.label(),
                     levels.swapped_in_pages.has_value(),
                     "/proc/vmstat has no pswpin (CONFIG_SWAP)");
    case TriggerKind::Rss:
      return ability(
          trigger.label(), !resident_sizes(proc).empty(), "/proc shows no process's size");
    default:
      return ability(trigger.label(),
                     levels.available_bytes && levels.total_bytes,
                     "/proc/meminfo cannot be read");
  }
}

// Memory that is swapped out and a process that may be killed make a file less certain, not
// impossible.
WatchAbility protection(const std::string& name, const std::string& refused) {
  return {name, refused.empty() ? ViewState::Works : ViewState::WorksInPart, refused};
}

}  // namespace

std::vector<std::string> views_of_triggers() {
  std::vector<std::string> views;
  for (const Trigger& trigger : each_trigger()) {
    if (!trigger.view().empty()) {
      views.push_back(trigger.view());
    }
  }
  return views;
}

std::vector<WatchAbility> diagnose_watch(std::span<const ViewDiagnosis> views,
                                         const RefusedProtection& refused,
                                         const std::string& proc) {
  std::vector<WatchAbility> all;
  const MachineLevels levels = read_levels(proc);
  for (const Trigger& trigger : each_trigger()) {
    all.push_back(trigger.view().empty() ? by_proc(trigger, levels, proc)
                                         : by_view(trigger, views));
  }
  all.push_back(protection("oom_score_adj", refused.by_oom_killer));
  all.push_back(protection("locked memory", refused.locked_memory));
  all.push_back(ability("pressure",
                        path_exists(proc + "/pressure/memory"),
                        "a file does not say for how long tasks had waited: this kernel has no "
                        "/proc/pressure/memory (Linux 4.20, CONFIG_PSI)"));
  return all;
}

Table watch_table(const std::vector<WatchAbility>& abilities) {
  Table table{.title = "memtrace watch", .key_count = 1, .fixed = true, .entries = true};
  table.columns = {{"part", Unit::Text}, {"state", Unit::Text}, {"finding", Unit::Text}};
  for (const WatchAbility& one : abilities) {
    table.rows.push_back({one.name, std::string(name_of(one.state)), one.finding});
  }
  return table;
}

}  // namespace memtrace
