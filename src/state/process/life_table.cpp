#include "state/process/life_table.h"

namespace memtrace {
namespace {

template <typename Key>
LifeId first_of(const std::unordered_map<Key, LifeId>& firsts, Key key) {
  const auto found = firsts.find(key);
  return found == firsts.end() ? LifeId() : found->second;
}

}  // namespace

LifeId LifeTable::add(const Life& life) {
  lives_.push_back(life);
  return LifeId{static_cast<std::uint32_t>(lives_.size())};
}

LifeId LifeTable::begin(std::uint32_t pid) {
  return add({.pid = pid});
}

LifeId LifeTable::fork(LifeId parent, std::uint32_t parent_pid, std::uint32_t pid) {
  Life child = parent.valid() ? at(parent) : Life();
  child.pid = pid;
  const LifeId id = add(child);
  note_parent(id, parent_pid);
  return id;
}

LifeId LifeTable::exec(LifeId before) {
  const Life& life = at(before);
  return add({.pid = life.pid, .parent_pid = life.parent_pid});
}

void LifeTable::note_exe(LifeId id, StringId exe) {
  Life& life = lives_[id.value - 1];
  if (!life.exe.valid()) {
    life.exe = exe;
    first_of_exe_.try_emplace(exe, id);
  }
}

void LifeTable::note_parent(LifeId id, std::uint32_t parent_pid) {
  lives_[id.value - 1].parent_pid = parent_pid;
  if (parent_pid != 0) {
    first_of_parent_.try_emplace(parent_pid, id);
  }
}

void LifeTable::note_command(LifeId id, StringId command) {
  lives_[id.value - 1].command = command;
  first_of_command_.try_emplace(command, id);
}

template <>
LifeId LifeTable::same<&Life::parent_pid>(LifeId id) const {
  return first_of(first_of_parent_, at(id).parent_pid);
}

template <>
LifeId LifeTable::same<&Life::exe>(LifeId id) const {
  return first_of(first_of_exe_, at(id).exe);
}

template <>
LifeId LifeTable::same<&Life::command>(LifeId id) const {
  return first_of(first_of_command_, at(id).command);
}

}  // namespace memtrace
