#include "views/truth/vmstat_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSharesOfAll = 20;  // one is 5 %

bool is_apart(std::uint64_t counted, std::uint64_t grown, std::uint64_t slack) {
  const std::uint64_t difference = std::max(counted, grown) - std::min(counted, grown);
  return difference > slack && difference > grown / kSharesOfAll;
}

}  // namespace

void VmstatCheck::add(const Figure& figure) {
  std::string counters;
  std::uint64_t grown = 0;
  for (const std::string_view counter : figure.counters) {
    if (growth_ == nullptr) {
      return;
    }
    // World::VmstatGrowth: no growth, no entry
    if (const auto found = growth_->find(std::string(counter)); found != growth_->end()) {
      counters += counters.empty() ? "" : " + ";
      counters += counter;
      grown += found->second;
    }
  }
  const auto own = figure.own_event.empty() ? 0 : world_.own_events(std::string(figure.own_event));
  grown -= std::min(grown, figure.some_are_own ? 0 : own.value_or(0));
  if (grown == 0 || !own) {
    return;
  }
  const double explained = 100.0 * static_cast<double>(figure.counted) / static_cast<double>(grown);
  counters += figure.some_are_own && *own > 0 ? " (some by memtrace)" : "";
  rows_.push_back({std::string(figure.name), figure.counted, counters, grown, explained});
  const std::uint64_t slack = figure.slack + (figure.some_are_own ? *own : 0);
  if (is_apart(figure.counted, grown, slack)) {
    notes_.push_back(fmt::format("{} is {}, but {} in /proc/vmstat grew by {}; {}",
                                 figure.name,
                                 print_count(figure.counted),
                                 counters,
                                 print_count(grown),
                                 figure.hint));
  }
}

void VmstatCheck::add_to(Report& report) const {
  if (rows_.empty()) {
    return;
  }
  report.tables.push_back({.title = "beside what the kernel counted",
                           .columns = {{"figure", Unit::Text},
                                       {"counted"},
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
