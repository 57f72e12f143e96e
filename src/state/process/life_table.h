// Lives of processes: what a process was from its fork or exec to the next exec or its end. A pid
// is used again and a program replaces itself: events keep the life instead.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>

#include "base/ids.h"

namespace memtrace {

// An id or a pid of 0 means not known.
struct Life {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  StringId exe;      // path of the file that execve(2) mapped first
  StringId command;  // its arguments, with blanks between them
};

class LifeTable {
 public:
  // A process whose beginning was not seen.
  LifeId begin(std::uint32_t pid);

  // A child is what its parent was until it calls execve(2). `parent`: may be none.
  LifeId fork(LifeId parent, std::uint32_t parent_pid, std::uint32_t pid);

  // The same process with another program.
  LifeId exec(LifeId before);

  // The first one counts: the program is mapped before its interpreter and its libraries
  // (load_elf_binary() in fs/binfmt_elf.c).
  void note_exe(LifeId id, StringId exe);
  void note_parent(LifeId id, std::uint32_t parent_pid);
  void note_command(LifeId id, StringId command);

  const Life& at(LifeId id) const { return lives_[id.value - 1]; }

  // One life that represents all with the same of what `member` is; none where it is not known.
  template <auto Member>
  LifeId same(LifeId id) const;

 private:
  LifeId add(const Life& life);

  std::deque<Life> lives_;
  std::unordered_map<std::uint32_t, LifeId> first_of_parent_;
  std::unordered_map<StringId, LifeId> first_of_exe_;
  std::unordered_map<StringId, LifeId> first_of_command_;
};

template <>
LifeId LifeTable::same<&Life::parent_pid>(LifeId id) const;
template <>
LifeId LifeTable::same<&Life::exe>(LifeId id) const;
template <>
LifeId LifeTable::same<&Life::command>(LifeId id) const;

}  // namespace memtrace
