// Where the roots of ext file systems are mounted, as a process sees it. Reading the mounts of a
// container host takes a millisecond: they are read once a second for each mount namespace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace memtrace {

class ExtMounts {
 public:
  using Device = std::pair<std::uint32_t, std::uint32_t>;
  using Points = std::map<Device, std::string>;

  // `proc`: "/proc".
  explicit ExtMounts(std::string proc) : proc_(std::move(proc)) {}

  // `process`: "self" or "4711". What was mounted less than a second ago may be missing, and what
  // was unmounted since may be there: ask the mount point for its device. Valid until the next
  // call.
  const Points& of(const std::string& process, std::uint64_t now_ns);

 private:
  struct Known {
    Points points{};
    std::uint64_t read_at_ns = 0;
  };

  std::string view_of(const std::string& process) const;

  std::string proc_;
  std::map<std::string, Known> known_;  // by view_of()
};

// "254:0" to its mount point, for the ext file systems whose root is mounted.
ExtMounts::Points ext_mounts(std::string_view mountinfo);

}  // namespace memtrace
