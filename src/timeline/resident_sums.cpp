#include "timeline/resident_sums.h"

#include <utility>

namespace memtrace {
namespace {

bool has_ended(const ProcessTable& processes, std::uint32_t pid) {
  const Process* process = processes.find(pid);
  return process != nullptr && process->exited;
}

std::size_t sum_of(std::size_t member) {
  return static_cast<RssMember>(member) == RssMember::Swap ? 1 : 0;
}

}  // namespace

// A child of vfork(2) changes its parent's address space, which stays the parent's. A process that
// has another one than before has called execve(2). At its end it changes its own as if that were
// another's.
void ResidentSums::apply(std::uint32_t pid, const RssStat& stat, const ProcessTable& processes) {
  Space& space = spaces_[stat.mm_id];
  if (space.is_over && !stat.is_of_task && space.pid == pid) {
    return;
  }
  const auto member = static_cast<std::size_t>(stat.member);
  if (counts(space)) {
    sums_[sum_of(member)] += stat.bytes - space.bytes.at(member);  // modulo 2^64: it may shrink
  }
  space.bytes.at(member) = stat.bytes;
  if (!stat.is_of_task || (counts(space) && !has_ended(processes, space.pid))) {
    return;
  }
  if (!counts(space)) {
    add(space);
  }
  space.pid = pid;
  space.is_over = false;
  const auto [own, is_new] = own_of_.try_emplace(pid, stat.mm_id);
  if (!is_new && own->second != stat.mm_id) {
    end(spaces_[own->second]);
    own->second = stat.mm_id;
  }
}

void ResidentSums::add(const Space& space) {
  for (std::size_t member = 0; member < space.bytes.size(); ++member) {
    sums_[sum_of(member)] += space.bytes.at(member);
  }
}

bool ResidentSums::drop_ended(const ProcessTable& processes) {
  bool has_any = false;
  for (auto& [mm_id, space] : spaces_) {
    if (!space.is_over && space.pid != 0 && has_ended(processes, space.pid)) {
      end(space);
      has_any = true;
    }
  }
  return has_any;
}

void ResidentSums::end(Space& space) {
  for (std::size_t member = 0; member < space.bytes.size(); ++member) {
    const std::uint64_t bytes = std::exchange(space.bytes.at(member), 0);
    sums_[sum_of(member)] -= counts(space) ? bytes : 0;
  }
  space.is_over = true;
}

}  // namespace memtrace
