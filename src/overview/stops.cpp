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
  std::string triggers;           // who asked for memory last
};

using KillsByVictim = std::map<std::tuple<std::string, std::string, std::string>, Kills>;

// The row of a table about victims that is of this one, or none.
std::optional<std::size_t> row_of_victim(const Table* table, const std::string& pid) {
  for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
    if (text_at(*table, row, "victim_pid") == pid) {
      return row;
    }
  }
  return std::nullopt;
}

KillsByVictim kills_in(const Report& report, const Table& kills) {
  const Table* memory = table_with(report, "anon");
  const Table* cgroups = table_with(report, "cgroup_limit");
  KillsByVictim found;
  for (std::size_t row = 0; row < row_count(kills); ++row) {
    const std::string pid = text_at(kills, row, "victim_pid");
    const auto memory_row = row_of_victim(memory, pid);
    const auto cgroup_row = row_of_victim(cgroups, pid);
    const std::string cgroup = memory_row ? text_at(*memory, *memory_row, "cgroup") : "";
    Kills& of_victim = found[{text_at(kills, row, "victim"), text_at(kills, row, "for"), cgroup}];
    ++of_victim.count;
    of_victim.triggers = text_at(kills, row, "trigger");
    if (memory_row) {
      of_victim.anon_bytes =
          std::max(of_victim.anon_bytes, figure_at(*memory, *memory_row, "anon"));
    }
    if (cgroup_row) {
      of_victim.limit_bytes = figure_at(*cgroups, *cgroup_row, "cgroup_limit");
    }
  }
  return found;
}

std::string kill_times(std::uint64_t count) {
  return count == 1 ? "" : fmt::format(" {} times", print_count(count));
}

std::string sentence_of(const KillsByVictim::value_type& entry) {
  const auto& [victim, domain, cgroup] = entry.first;
  const Kills& kills = entry.second;
  std::string sentence = fmt::format(
      "The OOM killer killed {}{}", victim.empty() ? "a process" : victim, kill_times(kills.count));
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
  if (!kills.triggers.empty() && kills.triggers != victim) {
    sentence += " " + kills.triggers + " asked for the memory that was missing.";
  }
  return sentence;
}

}  // namespace

std::vector<Finding> find_oom_kills(const Report& report, const FindingContext& /*context*/) {
  const Table* kills = table_with(report, "trigger");
  std::vector<Finding> findings;
  if (kills == nullptr) {
    return findings;
  }
  for (const auto& entry : kills_in(report, *kills)) {
    findings.push_back({.rank = Finding::Rank::Kill,
                        .weight = entry.second.count,
                        .view = "oom",
                        .sentence = sentence_of(entry),
                        .command = "oom"});
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
    if (findings.size() == kMostRefused || group.figures[0] == 0) {
      break;
    }
    const std::string asked =
        group.figures[1] > 0 ? fmt::format(", {} in all", print_bytes(group.figures[1])) : "";
    findings.push_back(
        {.rank = Finding::Rank::Refusal,
         .weight = group.figures[0],
         .view = "enomem",
         .sentence = fmt::format(
             "The kernel refused memory to {} ({}, {}{}).",
             subject_of(group.keys[0]),
             counted(group.figures[0], group.keys[1] + " call", group.keys[1] + " calls"),
             group.keys[2],
             asked),
         .command = "enomem" + comm_option(group.keys[0])});
  }
  return findings;
}

}  // namespace memtrace
