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

// Those that grew: the others have no entry (World::VmstatGrowth).
VmstatCheck::Growth VmstatCheck::growth_of(const Figure& figure) const {
  Growth sum;
  for (const std::string_view counter : figure.counters) {
    if (const auto found = growth_->find(std::string(counter)); found != growth_->end()) {
      sum.counters += sum.counters.empty() ? "" : " + ";
      sum.counters += counter;
      sum.grown += found->second;
    }
  }
  return sum;
}

void VmstatCheck::add(const Figure& figure) {
  const auto own = figure.own_event.empty() ? 0 : world_.own_events(std::string(figure.own_event));
  if (growth_ == nullptr || !own) {
    return;
  }
  Growth sum = growth_of(figure);
  if (!figure.some_are_own) {
    sum.grown -= std::min(sum.grown, *own);
  }
  if (sum.grown != 0) {
    add_row(figure, sum, figure.some_are_own ? *own : 0);
  }
}

void VmstatCheck::add_row(const Figure& figure, const Growth& sum, std::uint64_t perhaps_own) {
  const double explained =
      100.0 * static_cast<double>(figure.counted) / static_cast<double>(sum.grown);
  const std::string counters = sum.counters + (perhaps_own > 0 ? " (some by memtrace)" : "");
  rows_.push_back({std::string(figure.name), figure.counted, counters, sum.grown, explained});
  if (is_apart(figure.counted, sum.grown, figure.slack + perhaps_own)) {
    notes_.push_back(fmt::format("{} is {}, but the kernel's {} grew by {}; {}",
                                 figure.name,
                                 print_count(figure.counted),
                                 counters,
                                 print_count(sum.grown),
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

VmstatCheck::Figure allocated_pages(std::uint64_t counted) {
  return {.name = "allocated pages",
          .counted = counted,
          .counters = {"pgalloc_dma",
                       "pgalloc_dma32",
                       "pgalloc_normal",
                       "pgalloc_high",
                       "pgalloc_movable",
                       "pgalloc_device"},
          .hint =
              "pages that the kernel allocates in bulk (vmalloc, network drivers; from Linux "
              "5.13 on) have no event",
          .own_event = "kmem:mm_page_alloc"};
}

VmstatCheck::Figure dirtied_pages(std::uint64_t counted) {
  return {.name = "dirtied",
          .counted = counted,
          .counters = {"nr_dirtied"},
          .hint = "a folio that was in the page cache before the recording counts as one page"};
}

VmstatCheck::Figure migrated_pages(std::string_view name, std::uint64_t counted) {
  return {.name = name,
          .counted = counted,
          .counters = {"pgmigrate_success"},
          .hint = "up to Linux 5.13 NUMA balancing moves huge pages without an event"};
}

}  // namespace memtrace
