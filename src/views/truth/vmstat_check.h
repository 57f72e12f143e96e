// What a view counted beside what /proc/vmstat counted on the whole machine over the same time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "state/world/world.h"

namespace memtrace {

class VmstatCheck {
 public:
  explicit VmstatCheck(const World& world) : world_(world), growth_(world.growth_beside_events()) {}

  struct Figure {
    std::string_view name;  // the view's column
    std::uint64_t counted = 0;
    // All that it is the sum of. A kernel need not have each of them.
    std::vector<std::string_view> counters;
    std::string_view hint;  // what may make a difference
    // The counters have what memtrace did itself, too. Its own events of this name, which were left
    // out of the recording, are taken off. Nothing is added when their number is not known.
    std::string_view own_event = {};
    // Some of them, and it is not known which: the difference may be as large as their number.
    bool some_are_own = false;
    // A smaller difference means nothing: the counters are read some milliseconds before the first
    // event and behind the last one, and each CPU keeps up to 125 pages of a counter to itself
    // before others see them (mm/vmstat.c, calculate_normal_threshold).
    std::uint64_t slack = 2'000;
  };

  // Adds nothing when no counter grew: then it is not known whether the kernel has it.
  void add(const Figure& figure);

  // Adds the table, and a note for each figure that is over 5 % and its slack away from its
  // counters.
  void add_to(Report& report) const;

 private:
  struct Growth {
    std::string counters;  // "pswpin + zswpin"
    std::uint64_t grown = 0;
  };

  Growth growth_of(const Figure& figure) const;
  void add_row(const Figure& figure, const Growth& sum, std::uint64_t perhaps_own);

  const World& world_;
  const World::VmstatGrowth* growth_ = nullptr;  // null: not known, or of other events
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::string> notes_;
};

// What kmem:mm_page_alloc counts, in pages.
VmstatCheck::Figure allocated_pages(std::uint64_t counted);
// What writeback:writeback_dirty_folio counts, in pages.
VmstatCheck::Figure dirtied_pages(std::uint64_t counted);
// What migrate:mm_migrate_pages counts, in pages.
VmstatCheck::Figure migrated_pages(std::string_view name, std::uint64_t counted);

}  // namespace memtrace
