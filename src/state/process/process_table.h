// Processes and threads as of now, from comm, fork, exec, exit and mmap records. Pids are reused:
// a Process is one life of a pid.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/ids.h"
#include "state/process/address_space.h"
#include "state/process/life_table.h"

namespace memtrace {

struct Process {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::uint64_t serial = 0;  // unlike for each life and each exec: a key for caches
  StringId comm;
  IdentityId identity;  // a child begins with its parent's, as it does in the kernel
  LifeId life;
  AddressSpace space;
  bool exited = false;
};

class ProcessTable {
 public:
  // Finds or makes the process.
  Process& process(std::uint32_t pid);
  const Process* find(std::uint32_t pid) const;

  // A thread's own name, or its process's, or none.
  StringId comm(std::uint32_t pid, std::uint32_t tid) const;

  void rename(std::uint32_t pid, std::uint32_t tid, StringId comm);
  // execve(2): the address space is empty again, other threads are gone.
  void exec(std::uint32_t pid);

  // A new process gets a copy of its parent's address space and name, a thread its creator's name.
  struct ForkedTask {
    std::uint32_t pid = 0, parent_pid = 0;
    std::uint32_t tid = 0, parent_tid = 0;
  };

  void fork(const ForkedTask& task);
  // Names and maps stay until the pid is used again: samples of a dying task come after its exit.
  void exit(std::uint32_t pid, std::uint32_t tid);

  std::size_t size() const { return processes_.size(); }

  LifeTable& lives() { return lives_; }

  const LifeTable& lives() const { return lives_; }

  // Names by thread.
  using ThreadNames = std::map<std::uint32_t, StringId>;

  // The processes that run, by pid, with those of their threads whose names are known. A process
  // whose first thread has ended runs as long as another one does.
  std::map<std::uint32_t, ThreadNames> running() const;

  // Processes ever seen, pid reuse included.
  std::uint64_t seen() const { return seen_; }

 private:
  struct Thread {
    StringId comm;
    std::uint32_t pid = 0;
    bool exited = false;
  };

  std::unordered_map<std::uint32_t, Process> processes_;
  std::unordered_map<std::uint32_t, Thread> threads_;  // those with a name
  LifeTable lives_;
  std::uint64_t serial_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace memtrace
