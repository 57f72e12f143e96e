#include "perf/target/huge_mappings.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
std::string_view filesystem_of_device(std::string_view mountinfo,
                                      std::uint32_t major,
                                      std::uint32_t minor) {
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto words = split(line, ' ');
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": the optional fields in the
    // middle end with a hyphen.
    if (words.size() < 3 || words[2] != device) {
      continue;
    }
    const std::size_t end = line.find(" - ");
    if (end != std::string_view::npos) {
      const std::string_view rest = line.substr(end + 3);
      return rest.substr(0, rest.find(' '));
    }
  }
  return {};
}

std::uint64_t page_bytes_in_smaps(std::string_view smaps, std::uint64_t start) {
  bool is_here = false;
  for (const std::string_view line : split(smaps, '\n')) {
    if (const auto bytes = is_here ? proc_bytes(line, "KernelPageSize") : std::nullopt) {
      return *bytes;
    }
    if (const auto mapping = parse_maps_line(line)) {
      is_here = mapping->start == start;
    }
  }
  return 0;
}

bool HugeMappings::contains(const Mmap& mapping) {
  if (mapping.path.starts_with("/anon_hugepage")) {
    return true;  // MAP_HUGETLB without a file (fs/hugetlbfs/inode.c, hugetlb_file_setup)
  }
  // A file system without a disk has a device of major number 0.
  return mapping.major == 0 && mapping.inode != 0 && is_huge_device(mapping);
}

bool HugeMappings::is_huge_device(const Mmap& mapping) {
  const auto [known, is_new] = is_huge_.try_emplace({mapping.major, mapping.minor}, false);
  if (is_new) {
    const std::string mountinfo = proc_text(mapping.pid, "mountinfo");
    const auto filesystem = filesystem_of_device(mountinfo, mapping.major, mapping.minor);
    known->second = filesystem.empty() ? page_bytes_in_smaps(proc_text(mapping.pid, "smaps"),
                                                             mapping.start) > page_size_bytes()
                                       : filesystem == "hugetlbfs";
  }
  return known->second;
}

}  // namespace memtrace
