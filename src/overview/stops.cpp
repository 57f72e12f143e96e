// Who was killed for lack of memory, and which calls were refused memory.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/units.h"
#include "overview/finders.h"
#include "overview/row_groups.h"

namespace memtrace {
namespace {

constexpr std::size_t kMostRefused = 3;

// Kills of processes of one name in one cgroup.
struct Kills {
  std::uint64_t count = 0;
  std::uint64_t anon_bytes = 0;   // of the largest
  std::uint64_t limit_bytes = 0;  // of the cgroup; 0: not known
  std::string trigger;            // who asked for memory, of those with the most kills
};

using KillsByVictim = std::map<std::tuple<std::string, std::string, std::string>, Kills>;

KillsByVictim kills_in(const Table& table) {
  KillsByVictim found;
  for (std::size_t row = 0; row < row_count(table); ++row) {
    if (text_at(table, row, "how") != "killed") {
      continue;  // it was exiting, or has no victim
    }
    Kills& kills = found[{
        text_at(table, row, "victim"), text_at(table, row, "for"), text_at(table, row, "cgroup")}];
    if (kills.count == 0) {
      kills.trigger = text_at(table, row, "trigger");
    }
    kills.count += figure_at(table, row, "kills");
    kills.anon_bytes = std::max(kills.anon_bytes, figure_at(table, row, "anon"));
    kills.limit_bytes = std::max(kills.limit_bytes, figure_at(table, row, "cgroup_limit"));
  }
  return found;
}

std::string kill_times(std::uint64_t count) {
  return count == 1 ? "" : fmt::format(" {} times", print_count(count));
}

std::string sentence_of(const KillsByVictim::value_type& entry) {
  const auto& [victim, domain, cgroup] = entry.first;
  const Kills& kills = entry.second;
  std::string sentence = fmt::format("The OOM killer killed {}{}",
                                     victim.empty() ? "a process" : subject_of(victim),
                                     kill_times(kills.count));
  if (domain != "machine" && !cgroup.empty()) {
    sentence += " in cgroup " + cgroup;
  }
  sentence += kills.limit_bytes > 0 && domain != "machine"
                  ? fmt::format(", whose limit is {}", print_bytes(kills.limit_bytes))
                  : "";
  sentence += ".";
  if (kills.anon_bytes > 0) {
    sentence += fmt::format(" It held {}{} of anonymous memory.",
                            kills.count > 1 ? "up to " : "",
                            print_bytes(kills.anon_bytes));
  }
  if (!kills.trigger.empty() && kills.trigger != victim) {
    sentence += " " + kills.trigger + " asked for the memory that was missing.";
  }
  return sentence;
}

}  // namespace

std::vector<Finding> find_oom_kills(const Report& report, const FindingContext& /*context*/) {
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  for (const auto& entry : kills_in(report.tables.front())) {
    findings.push_back({.rank = Finding::Rank::Kill,
                        .weight = entry.second.count,
                        .view = "oom",
                        .sentence = sentence_of(entry),
                        .command = "oom",
                        .of_memtrace = is_memtrace(std::get<0>(entry.first))});
  }
  return findings;
}

std::vector<Finding> find_refused_calls(const Report& report, const FindingContext& /*context*/) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm", "call", "error"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"count", "asked"});
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  for (const RowGroup& group : group_rows(report.tables.front(), kKeys, kFigures)) {
    if (are_enough(findings, kMostRefused) || group.figures[0] == 0) {
      break;
    }
    const std::string asked =
        group.figures[1] > 0 ? fmt::format(", {} in all", print_bytes(group.figures[1])) : "";
    const std::string& error = group.keys[2];  // of brk(2) none: it returns the old end of the heap
    findings.push_back(
        {.rank = Finding::Rank::Refusal,
         .weight = group.figures[0],
         .view = "enomem",
         .sentence = fmt::format(
             "The kernel refused memory to {} ({}{}{}).",
             subject_of(group.keys[0]),
             counted(group.figures[0], group.keys[1] + " call", group.keys[1] + " calls"),
             error.empty() ? "" : ", " + error,
             asked),
         .command = "enomem" + comm_option(group.keys[0]),
         .of_memtrace = is_memtrace(group.keys[0])});
  }
  return findings;
}

}  // namespace memtrace
