// What was allocated in the recording and is still there, by what it is for.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "overview/finders.h"
#include "overview/row_groups.h"
#include "overview/stack_words.h"

namespace memtrace {
namespace {

constexpr std::size_t kMost = 5;
constexpr std::uint64_t kLeastBytes = std::uint64_t{4} << 20U;
// Stacks are named one by one: the largest suffice to say what most of the memory is for.
constexpr std::size_t kNamedRows = 400;

// What one program allocated for one use.
struct Growth {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t largest_bytes = 0;  // of one stack
  StackId stack;                    // that stack
  bool is_cache = false;            // of one slab cache
};

using GrowthByUse = std::map<std::pair<std::string, std::string>, Growth>;  // comm, use

// Of rows with as many bytes, which lie in no order.
bool comes_first(const Table& table, std::size_t left, std::size_t right) {
  const auto count_left = figure_at(table, left, "count");
  const auto count_right = figure_at(table, right, "count");
  if (count_left != count_right) {
    return count_left > count_right;
  }
  const auto words = [&table](std::size_t row) {
    return std::tuple(text_at(table, row, "comm"), text_at(table, row, "cache"), row);
  };
  return words(left) < words(right);
}

// The rows with the most bytes.
std::vector<std::size_t> largest_rows(const Table& table) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted;
  for (std::size_t row = 0; row < row_count(table); ++row) {
    sorted.emplace_back(figure_at(table, row, "bytes"), row);
  }
  std::ranges::sort(sorted, [&table](const auto& left, const auto& right) {
    return left.first != right.first ? left.first > right.first
                                     : comes_first(table, left.second, right.second);
  });
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < std::min(sorted.size(), kNamedRows); ++i) {
    rows.push_back(sorted[i].second);
  }
  return rows;
}

void add_row(const Table& table, std::size_t row, Namer& namer, GrowthByUse& uses) {
  const StackId stack = stack_at(table, row);
  const Frames& frames = namer.stack(stack);
  const std::string cache = text_at(table, row, "cache");
  if (cache.empty() && is_slab_page(frames)) {
    return;  // the objects in it are listed themselves
  }
  const std::string_view purpose = purpose_of(frames);
  // A socket is objects of four caches.
  const bool is_cache = !cache.empty() && purpose != kSockets;
  const std::string use = is_cache          ? "slab cache " + cache
                          : purpose.empty() ? "kernel memory"
                                            : std::string(purpose);
  Growth& growth = uses[{text_at(table, row, "comm"), use}];
  const std::uint64_t bytes = figure_at(table, row, "bytes");
  growth.bytes += bytes;
  growth.count += figure_at(table, row, "count");
  growth.is_cache = is_cache;
  if (bytes > growth.largest_bytes) {
    growth.largest_bytes = bytes;
    growth.stack = stack;
  }
}

Finding finding_of(const GrowthByUse::value_type& entry, Namer& namer) {
  const auto& [comm, use] = entry.first;
  const Growth& growth = entry.second;
  const Frames& frames = namer.stack(growth.stack);
  const bool is_returned = comes_back(use);
  return {.rank = is_returned ? Finding::Rank::ProgramGrowth : Finding::Rank::KernelGrowth,
          .weight = growth.bytes,
          .view = "kleaks",
          .sentence =
              fmt::format("{} allocated {} of {}, not freed by the end ({}{}).",
                          subject_of(comm),
                          print_bytes(growth.bytes),
                          use,
                          counted(growth.count,
                                  growth.is_cache ? "object" : "block",
                                  growth.is_cache ? "objects" : "blocks"),
                          most_in(is_returned ? culprit_of(frames) : kernel_culprit_of(frames))),
          .command = fmt::format("kleaks --by {}{}",
                                 growth.is_cache ? "cache,stack" : "stack --user-pages",
                                 comm_option(comm)),
          .of_memtrace = is_memtrace(comm)};
}

}  // namespace

std::vector<Finding> find_growth(const Report& report, const FindingContext& context) {
  std::vector<Finding> findings;
  if (report.tables.empty() || report.inconclusive) {
    return findings;
  }
  GrowthByUse uses;
  for (const std::size_t row : largest_rows(report.tables.front())) {
    add_row(report.tables.front(), row, context.namer, uses);
  }
  for (const auto& entry : uses) {
    if (entry.second.bytes >= kLeastBytes) {
      findings.push_back(finding_of(entry, context.namer));
    }
  }
  sort_by_weight(findings);
  findings.resize(std::min(findings.size(), kMost));
  return findings;
}

// Which files hold what programs added to tmpfs.
std::vector<Finding> find_tmpfs_growth(const Report& report, const FindingContext& /*context*/) {
  constexpr std::size_t kMostFiles = 3;
  std::vector<Finding> findings;
  const Table* files = table_with(report, "grown");
  for (std::size_t row = 0; files != nullptr && row < row_count(*files); ++row) {
    const std::uint64_t grown = figure_at(*files, row, "grown");
    if (grown >= kLeastBytes) {
      findings.push_back({.rank = Finding::Rank::KernelGrowth,
                          .weight = grown,
                          .view = "filepages",
                          .sentence = fmt::format("{} on tmpfs grew by {} to {}.",
                                                  text_at(*files, row, "file"),
                                                  print_bytes(grown),
                                                  print_bytes(figure_at(*files, row, "size"))),
                          .command = "filepages"});
    }
  }
  sort_by_weight(findings);
  findings.resize(std::min(findings.size(), kMostFiles));
  return findings;
}

}  // namespace memtrace
