// The root directories of watched processes: chroot(2), containers. What they call
// /usr/lib/libc.so.6 is a file below it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace memtrace {

class ProcessRoots {
 public:
  // `command` is what is run, if it is one: chroot(8) says where.
  explicit ProcessRoots(std::span<const std::string> command = {});

  // As we see it, "" for our own. For a process that has ended: the last that was seen of another
  // process; a caller that looks for a file there checks that it is the right one.
  std::string of(std::uint32_t pid);

 private:
  std::string last_;
};

}  // namespace memtrace
