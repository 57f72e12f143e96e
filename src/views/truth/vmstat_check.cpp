#include "views/truth/vmstat_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"

namespace memtrace {
namespace {

// A difference of this size means nothing. Each CPU keeps up to 125 pages of a counter to itself
// before others see them (mm/vmstat.c, calculate_normal_threshold). The counters are read some
// milliseconds before the first event and behind the last one.
constexpr std::uint64_t kSlackPages = 2'000;
constexpr std::uint64_t kSharesOfAll = 20;  // one is 5 %

bool is_apart(std::uint64_t counted, std::uint64_t grown) {
  const std::uint64_t difference = std::max(counted, grown) - std::min(counted, grown);
  return difference > kSlackPages && difference > grown / kSharesOfAll;
}

}  // namespace

void VmstatCheck::add(std::string_view figure,
                      std::uint64_t pages,
                      std::string_view counter,
                      std::string_view hint) {
  if (growth_ == nullptr) {
    return;
  }
  const auto found =
      growth_->find(std::string(counter));  // World::VmstatGrowth: no growth, no entry
  if (found == growth_->end()) {
    return;
  }
  const std::uint64_t grown = found->second;
  const double explained = 100.0 * static_cast<double>(pages) / static_cast<double>(grown);
  rows_.push_back({std::string(figure), pages, std::string(counter), grown, explained});
  if (is_apart(pages, grown)) {
    notes_.push_back(fmt::format("{} is {} pages, but {} in /proc/vmstat grew by {}; {}",
                                 figure,
                                 print_count(pages),
                                 counter,
                                 print_count(grown),
                                 hint));
  }
}

void VmstatCheck::add_to(Report& report) const {
  if (rows_.empty()) {
    return;
  }
  report.tables.push_back({.title = "beside what the kernel counted",
                           .columns = {{"figure", Unit::Text},
                                       {"pages"},
                                       {"counter", Unit::Text},
                                       {"grown"},
                                       {"explained", Unit::Percent}},
                           .key_count = 1,
                           .rows = rows_,
                           .fixed = true});
  auto& notes = report.caveats.notes;
  notes.insert(notes.end(), notes_.begin(), notes_.end());
}

}  // namespace memtrace
