// Who waited for memory: in reclaim, for swap, in compaction, for pages to be written, for huge
// pages to be cleared.
#include <fmt/core.h>

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "overview/finders.h"
#include "overview/row_groups.h"

namespace memtrace {
namespace {

constexpr std::size_t kMostWaiting = 3;
constexpr std::uint64_t kDecisivePercent = 60;  // of a wait: less has no one cause

// Figures of a wait in the order that `waits` expects.
constexpr std::size_t kTime = 0;
constexpr std::size_t kTimes = 1;
constexpr std::size_t kLongest = 2;

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 10 ? fmt::format("{:.1f} %", share) : fmt::format("{:.0f} %", share);
}

// A program that waits for less than a thousandth of the time has no problem, one that waits for a
// hundredth has one.
Finding::Rank rank_of(std::uint64_t waited_ns, std::uint64_t span_ns) {
  return waited_ns >= span_ns / 100 ? Finding::Rank::Stall : Finding::Rank::SmallStall;
}

struct WaitColumns {
  std::string_view view;
  std::array<std::string_view, 2> keys;  // the second may be ""
  std::array<std::string_view, 3> figures;
};

// "cc1plus waited 1.25 s in direct reclaim (310 times, at most 12.3 ms): 4.1 % of the recording."
template <typename Words>
std::vector<Finding> waits(const Report& report,
                           const FindingContext& context,
                           const WaitColumns& columns,
                           Words words) {
  const Table* table = table_with(report, columns.figures[kTime]);
  std::vector<Finding> findings;
  if (table == nullptr) {
    return findings;
  }
  for (const RowGroup& group : group_rows(*table, columns.keys, columns.figures)) {
    const std::uint64_t waited_ns = group.figures[kTime];
    if (are_enough(findings, kMostWaiting) || waited_ns < context.span_ns / 1000 ||
        waited_ns == 0) {
      break;
    }
    findings.push_back(
        {.rank = rank_of(waited_ns, context.span_ns),
         .weight = waited_ns,
         .view = std::string(columns.view),
         .sentence = fmt::format("{} waited {} {}, at most {} at once: {} of the recording's time.",
                                 subject_of(group.keys[0]),
                                 print_duration(waited_ns),
                                 words(group),
                                 print_duration(group.figures[kLongest]),
                                 share_of(waited_ns, context.span_ns)),
         .command = std::string(columns.view) + comm_option(group.keys[0]),
         .of_memtrace = is_memtrace(group.keys[0])});
  }
  return findings;
}

std::string times_of(const RowGroup& group) {
  return counted(group.figures[kTimes], "time", "times");
}

}  // namespace

std::vector<Finding> find_reclaim(const Report& report, const FindingContext& context) {
  return waits(report,
               context,
               {"reclaim", {"comm", "kind"}, {"time_ns", "count", "max_ns"}},
               [](const RowGroup& group) {
                 return fmt::format("to free memory itself ({} reclaim, {})",
                                    group.keys[1] == "memcg" ? "cgroup" : group.keys[1],
                                    times_of(group));
               });
}

std::vector<Finding> find_swap_ins(const Report& report, const FindingContext& context) {
  return waits(report,
               context,
               {"swapin", {"comm", ""}, {"time", "count", "max"}},
               [](const RowGroup& group) {
                 return fmt::format("for swap ({})",
                                    counted(group.figures[kTimes], "swap-in", "swap-ins"));
               });
}

std::vector<Finding> find_compaction(const Report& report, const FindingContext& context) {
  return waits(report,
               context,
               {"compaction", {"comm", ""}, {"time_ns", "count", "max_ns"}},
               [](const RowGroup& group) {
                 return fmt::format("for compaction of memory ({})", times_of(group));
               });
}

std::vector<Finding> find_throttled_writers(const Report& report, const FindingContext& context) {
  return waits(report,
               context,
               {"writeback", {"comm", ""}, {"paused_ns", "throttles", "max_pause_ns"}},
               [](const RowGroup& group) {
                 return fmt::format("because the kernel throttles who dirties pages ({})",
                                    times_of(group));
               });
}

std::vector<Finding> find_huge_faults(const Report& report, const FindingContext& context) {
  return waits(report,
               context,
               {"hfaults", {"comm", ""}, {"time", "count", "max"}},
               [](const RowGroup& group) {
                 return fmt::format(
                     "in faults that {}",
                     counted(group.figures[kTimes], "huge page served", "huge pages served"));
               });
}

// Of a program that makes itself wait the other findings speak.
std::vector<Finding> find_aggressors(const Report& report, const FindingContext& context) {
  const Table* table = table_with(report, "of_victim");
  std::vector<Finding> findings;
  if (table == nullptr) {
    return findings;
  }
  constexpr auto kSides = std::to_array<std::string_view>({"aggressor", "victim"});
  constexpr auto kVictim = std::to_array<std::string_view>({"victim"});
  constexpr auto kFigures = std::to_array<std::string_view>({"time_ns"});
  std::map<std::string, std::uint64_t> waited;
  for (const RowGroup& victim : group_rows(*table, kVictim, kFigures)) {
    waited[victim.keys[0]] = victim.figures[kTime];
  }
  for (const RowGroup& pair : group_rows(*table, kSides, kFigures)) {
    const std::string& aggressor = pair.keys[0];
    const std::uint64_t caused_ns = pair.figures[kTime];
    const std::uint64_t waited_ns = waited[pair.keys[1]];
    if (are_enough(findings, kMostWaiting) || waited_ns == 0) {
      break;
    }
    if (aggressor.empty() || aggressor == pair.keys[1] || waited_ns < context.span_ns / 1000 ||
        caused_ns < waited_ns / 100 * kDecisivePercent) {
      continue;
    }
    findings.push_back({.rank = rank_of(caused_ns, context.span_ns),
                        .weight = caused_ns,
                        .view = "stalls",
                        .sentence = fmt::format("{} caused {} of the {} that {} waited for memory.",
                                                subject_of(aggressor),
                                                share_of(caused_ns, waited_ns),
                                                print_duration(waited_ns),
                                                subject_of(pair.keys[1])),
                        .command = "stalls",
                        .of_memtrace = is_memtrace(aggressor) || is_memtrace(pair.keys[1])});
  }
  return findings;
}

}  // namespace memtrace
