// Who does most of what costs time: page faults, pages put into the page cache, mappings, kernel
// allocations.
#include <fmt/core.h>

#include <array>
#include <map>

#include "base/units.h"
#include "overview/finders.h"
#include "overview/row_groups.h"
#include "overview/stack_words.h"

namespace memtrace {
namespace {

constexpr std::size_t kMostActive = 2;

std::uint64_t total_of(const std::vector<RowGroup>& groups) {
  std::uint64_t total = 0;
  for (const RowGroup& group : groups) {
    total += group.figures[0];
  }
  return total;
}

std::uint64_t percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : part * 100 / whole;
}

// A fifth of all, and not just a few.
bool is_large(std::uint64_t part, std::uint64_t whole, const FindingContext& context) {
  constexpr std::uint64_t kLeastPerSecond = 1000;
  const double seconds = static_cast<double>(context.span_ns) / 1e9;
  return part * 5 >= whole && static_cast<double>(part) >= kLeastPerSecond * seconds;
}

// Faults, mappings and objects have no common unit: the weight is the share of those of a kind that
// this program makes. A machine that compiles always has many faults; who makes nearly all mappings
// on it is unusual.
Finding activity(std::string_view view,
                 const RowGroup& group,
                 std::uint64_t total,
                 std::string sentence,
                 std::string_view arguments = "") {
  return {.rank = Finding::Rank::Activity,
          .weight = total == 0 ? 0 : group.figures[0] * 1000 / total,
          .view = std::string(view),
          .sentence = std::move(sentence),
          .command = fmt::format("{}{}{}", view, arguments, comm_option(group.keys[0])),
          .of_memtrace = is_memtrace(group.keys[0])};
}

// Shares of a recording of some processes are not shares of what the machine did.
std::string_view all_of(const FindingContext& context) {
  return context.scope == FindingContext::Scope::Machine    ? "all"
         : context.scope == FindingContext::Scope::Recorded ? "all recorded"
                                                            : "all selected";
}

std::string_view place_of(const FindingContext& context) {
  return context.scope == FindingContext::Scope::Machine    ? "on the machine"
         : context.scope == FindingContext::Scope::Recorded ? "recorded"
                                                            : "selected";
}

std::string in_time(std::uint64_t time_ns) {
  return time_ns == 0 ? "" : fmt::format(", {} in all", print_duration(time_ns));
}

// Pages that were copied because two processes shared them: after fork(2). Each program that a
// shell starts copies some: who makes all copies is unusual only if copies are many of all page
// faults.
void find_copies(const Table& table,
                 std::vector<Finding>& findings,
                 const FindingContext& context) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm", "class"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"count", "time"});
  const auto groups = group_rows(table, kKeys, kFigures);
  const std::uint64_t total = total_of(groups);
  for (const RowGroup& group : groups) {
    if (group.keys[1] != "copy-on-write" ||
        !is_large(group.figures[0], group.figures[0], context)) {
      continue;
    }
    findings.push_back(activity("faults",
                                group,
                                total,
                                fmt::format("{} copied {} that it shared with another process "
                                            "(copy on write, {} % of {} page faults{}){}.",
                                            subject_of(group.keys[0]),
                                            counted(group.figures[0], "page", "pages"),
                                            percent(group.figures[0], total),
                                            all_of(context),
                                            in_time(group.figures[1]),
                                            most_in(culprit_of(context.namer.stack(group.stack)))),
                                " --by class,stack"));
    if (!findings.back().of_memtrace) {
      return;
    }
  }
}

}  // namespace

std::vector<Finding> find_faults(const Report& report, const FindingContext& context) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"count", "time"});
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  const auto groups = group_rows(report.tables.front(), kKeys, kFigures);
  const std::uint64_t total = total_of(groups);
  for (const RowGroup& group : groups) {
    if (are_enough(findings, kMostActive) || !is_large(group.figures[0], total, context)) {
      break;
    }
    findings.push_back(
        activity("faults",
                 group,
                 total,
                 fmt::format("{} took {} % of {} page faults ({}{}){}.",
                             subject_of(group.keys[0]),
                             percent(group.figures[0], total),
                             all_of(context),
                             print_count(group.figures[0]),
                             in_time(group.figures[1]),
                             most_in(culprit_of(context.namer.stack(group.stack))))));
  }
  find_copies(report.tables.front(), findings, context);
  return findings;
}

namespace {

// ", most of /db/table (hot: read 10 times over)".
std::string most_of_file(const Report& report) {
  static constexpr auto kFiles = std::to_array<std::string_view>({"file"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"cache_add"});
  const Table* files = table_with(report, "file");
  const auto by_file =
      files == nullptr ? std::vector<RowGroup>() : group_rows(*files, kFiles, kFigures);
  if (by_file.empty()) {
    return "";
  }
  const std::string& file = by_file[0].keys[0];
  std::uint64_t times = 0;
  for (std::size_t row = 0; row < row_count(*files); ++row) {
    if (text_at(*files, row, "file") == file) {
      times = figure_at(*files, row, "times");
    }
  }
  return ", most of " + file + (times > 1 ? fmt::format(" (hot: read {} times over)", times) : "");
}

}  // namespace

std::vector<Finding> find_cache_churn(const Report& report, const FindingContext& context) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"cache_add", "cache_del"});
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  const auto groups = group_rows(report.tables.front(), kKeys, kFigures);
  const auto total = [&groups](std::size_t figure) {
    std::uint64_t sum = 0;
    for (const RowGroup& group : groups) {
      sum += group.figures[figure];
    }
    return sum;
  };
  const std::uint64_t added = total(0);
  const std::uint64_t dropped = total(1);
  if (added == 0 || dropped * 2 < added) {
    return findings;
  }
  for (const RowGroup& group : groups) {
    if (are_enough(findings, 1) || !is_large(group.figures[0], added, context)) {
      break;
    }
    findings.push_back(activity(
        "filepages",
        group,
        added,
        fmt::format("{} put {} into the page cache{}; the kernel dropped {} at the same time.",
                    subject_of(group.keys[0]),
                    counted(group.figures[0], "page", "pages"),
                    most_of_file(report),
                    print_count(dropped))));
  }
  return findings;
}

// All that one report of filepages has.
std::vector<Finding> find_files(const Report& report, const FindingContext& context) {
  std::vector<Finding> findings = find_cache_churn(report, context);
  for (Finding& growth : find_tmpfs_growth(report, context)) {
    findings.push_back(std::move(growth));
  }
  return findings;
}

namespace {

// Of mappings that do not last: ", 99 % unmapped again". How long the calls take says little: the
// recording of each makes them many times longer.
std::string unmapped_part(std::uint64_t mapped_bytes, std::uint64_t kept_bytes) {
  constexpr std::uint64_t kMostKept = 10;  // percent
  return mapped_bytes == 0 || kept_bytes * 100 > mapped_bytes * kMostKept
             ? ""
             : fmt::format(", {} % unmapped again",
                           percent(mapped_bytes - kept_bytes, mapped_bytes));
}

}  // namespace

std::vector<Finding> find_mapping_churn(const Report& report, const FindingContext& context) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm"});
  static constexpr auto kFigures =
      std::to_array<std::string_view>({"count", "bytes", "live", "at_exit"});
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  const auto groups = group_rows(report.tables.front(), kKeys, kFigures);
  const std::uint64_t total = total_of(groups);
  const bool says_what_is_kept = table_with(report, "live") != nullptr;
  for (const RowGroup& group : groups) {
    if (are_enough(findings, kMostActive) || !is_large(group.figures[0], total, context)) {
      break;
    }
    const std::uint64_t kept_bytes =
        says_what_is_kept ? group.figures[2] + group.figures[3] : group.figures[1];
    findings.push_back(activity("mmap",
                                group,
                                total,
                                fmt::format("{} made {} ({} in all{}): {} % of those {}.",
                                            subject_of(group.keys[0]),
                                            counted(group.figures[0], "mapping", "mappings"),
                                            print_bytes(group.figures[1]),
                                            unmapped_part(group.figures[1], kept_bytes),
                                            percent(group.figures[0], total),
                                            place_of(context)),
                                " --by stack"));
  }
  return findings;
}

std::vector<Finding> find_slab_allocations(const Report& report, const FindingContext& context) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm", "cache"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"allocs", "bytes"});
  std::vector<Finding> findings;
  if (report.tables.empty()) {
    return findings;
  }
  const auto groups = group_rows(report.tables.front(), kKeys, kFigures);
  const std::uint64_t total = total_of(groups);
  for (const RowGroup& group : groups) {
    if (are_enough(findings, 1) || !is_large(group.figures[0], total, context)) {
      break;
    }
    findings.push_back(
        activity("slab",
                 group,
                 total,
                 fmt::format("{} made {} % of {} allocations from slab caches ({} from {}, {}).",
                             subject_of(group.keys[0]),
                             percent(group.figures[0], total),
                             all_of(context),
                             print_count(group.figures[0]),
                             group.keys[1],
                             print_bytes(group.figures[1])),
                 " --by cache"));
  }
  return findings;
}

}  // namespace memtrace
