// Finds the hugetlb mappings of processes that already run: /proc/PID/maps does not mark them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "perf/record/record.h"

namespace memtrace {

// Files of hugetlb are recognized by their device: a mounted hugetlbfs is in /proc/PID/mountinfo
// (proc(5)). The kernel's own mount, where System V segments, memfd and MAP_HUGETLB have their
// pages, is in none: there the page size in /proc/PID/smaps decides, read once for each device.
class HugeMappings {
 public:
  // False also for what cannot be read.
  bool contains(const Mmap& mapping);

 private:
  bool is_huge_device(const Mmap& mapping);

  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> is_huge_;  // by major and minor number
};

// Whether the text of mountinfo has this device, and as what file system; "" when it has not.
std::string_view filesystem_of_device(std::string_view mountinfo,
                                      std::uint32_t major,
                                      std::uint32_t minor);

// KernelPageSize of the mapping that begins at `start`, from the text of smaps; 0 when it is not
// there.
std::uint64_t page_bytes_in_smaps(std::string_view smaps, std::uint64_t start);

}  // namespace memtrace
