#include "perf/target/huge_mappings.h"

#include <unistd.h>

#include <string>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {
namespace {

std::string proc_file(std::uint32_t pid, const char* name) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/" + name);
  return text.ok() ? text.value() : "";
}

}  // namespace

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
  constexpr std::string_view kPageSize = "KernelPageSize:";
  bool is_here = false;
  for (const std::string_view line : split(smaps, '\n')) {
    if (is_here && line.starts_with(kPageSize)) {
      const std::string_view number = trim(line.substr(kPageSize.size()));
      return parse_number(number.substr(0, number.find(' '))).value_or(0) * 1024;
    }
    const std::size_t dash = line.find('-');
    if (dash != std::string_view::npos && line.find(':') > dash) {
      is_here = parse_number(line.substr(0, dash), 16) == start;
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
    const std::string mountinfo = proc_file(mapping.pid, "mountinfo");
    const auto filesystem = filesystem_of_device(mountinfo, mapping.major, mapping.minor);
    known->second = filesystem.empty()
                        ? page_bytes_in_smaps(proc_file(mapping.pid, "smaps"), mapping.start) >
                              static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))
                        : filesystem == "hugetlbfs";
  }
  return known->second;
}

}  // namespace memtrace
