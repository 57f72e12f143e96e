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
  explicit VmstatCheck(const World& world) : growth_(world.growth_beside_events()) {}

  // `figure` is the view's column, in pages like the counter. `hint` is what may make a difference.
  // Adds nothing when the counter did not grow: then it is not known whether the kernel has it.
  void add(std::string_view figure,
           std::uint64_t pages,
           std::string_view counter,
           std::string_view hint);

  // Adds the table, and a note for each figure that is over 5 % and 2,000 pages from its counter.
  void add_to(Report& report) const;

 private:
  const World::VmstatGrowth* growth_ = nullptr;  // null: not known, or of other events
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::string> notes_;
};

}  // namespace memtrace
