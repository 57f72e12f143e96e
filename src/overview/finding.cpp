#include "overview/finding.h"

#include <algorithm>
#include <tuple>

#include "base/shell_word.h"
#include "overview/finders.h"

namespace memtrace {

void sort_by_weight(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& left, const Finding& right) {
    return std::tie(left.of_memtrace, right.rank, right.weight, left.sentence) <
           std::tie(right.of_memtrace, left.rank, left.weight, right.sentence);
  });
}

bool is_memtrace(const std::string& comm) {
  return comm == "memtrace" || comm == "memtrace-static";
}

bool are_enough(const std::vector<Finding>& findings, std::size_t most) {
  return std::ranges::count(findings, false, &Finding::of_memtrace) >=
         static_cast<std::ptrdiff_t>(most);
}

std::string subject_of(const std::string& comm) {
  return comm.empty() ? "an unknown process" : is_memtrace(comm) ? "memtrace itself" : comm;
}

std::string comm_option(const std::string& comm) {
  return comm.empty() ? "" : " --comm " + shell_word(comm);
}

const std::vector<Finder>& all_finders() {
  static const std::vector<Finder> finders = {
      {.view = "oom", .find = find_oom_kills},
      {.view = "enomem", .by = {"comm", "call", "error"}, .find = find_refused_calls},
      {.view = "reclaim", .by = {"comm", "kind"}, .find = find_reclaim},
      {.view = "swapin", .by = {"comm"}, .find = find_swap_ins},
      {.view = "compaction", .by = {"comm"}, .find = find_compaction},
      {.view = "writeback", .by = {"comm"}, .find = find_throttled_writers},
      {.view = "hfaults", .by = {"comm"}, .find = find_huge_faults},
      {.view = "stalls", .by = {"comm"}, .find = find_aggressors},
      {.view = "faults", .by = {"comm", "class", "stack"}, .find = find_faults},
      {.view = "filepages", .by = {"comm"}, .find = find_files},
      {.view = "mmap", .by = {"comm"}, .find = find_mapping_churn},
      {.view = "kleaks",
       .by = {"comm", "cache", "stack"},
       .flags = {"user-pages"},
       .find = find_growth},
      {.view = "slab", .by = {"comm", "cache"}, .find = find_slab_allocations},
  };
  return finders;
}

}  // namespace memtrace
