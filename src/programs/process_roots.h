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

  // As we see it, "" for our own. For a process that has ended: the last root that was seen of
  // another process; a caller that looks for a file there checks that it is the right one.
  // `time_ns` is the time of the record. Records made from /proc at once share one time and come
  // process by process, so /proc is read once for each process.
  const std::string& of(std::uint32_t pid, std::uint64_t time_ns);

 private:
  std::string read(std::uint32_t pid);

  std::string last_;
  std::string root_;  // of the process that was asked for last
  std::uint32_t pid_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace memtrace
