// Processes that the kernel took the events of a recording away from. It does so when a task's
// execve(2) gives it a program that changes its rights, or that it may not look into: a set-user-ID
// or set-group-ID one, one with capabilities, one that may be executed but not read (fs/exec.c,
// begin_new_exec(): "Disable monitoring for regular users when executing setuid binaries"; so it is
// for root's recording, too; each seen on 6.18). There is no error; the task's exit is announced,
// though the task goes on.
//
//   COMM exec, MMAP, MMAP, ..., EXIT    a program that ran
//   COMM exec, EXIT                     one that the events were taken away from
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/record/record.h"

namespace memtrace {

class TakenEvents {
 public:
  // All records in order, of a recording of some processes. Events of whole CPUs are never taken,
  // though the exit is announced to them, too.
  void see(const Record& record);

  // A sentence, or none.
  std::vector<std::string> notes() const;

 private:
  std::unordered_map<std::uint32_t, std::string> executing_;  // by pid, until the first mapping
  std::map<std::string, std::uint64_t> taken_;                // by name
};

}  // namespace memtrace
