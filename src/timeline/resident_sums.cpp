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
  sums_[sum_of(member)] += stat.bytes - space.bytes.at(member);  // modulo 2^64, as it may shrink
  space.bytes.at(member) = stat.bytes;
  if (!stat.is_of_task || (space.pid != 0 && !has_ended(processes, space.pid))) {
    return;
  }
  space.pid = pid;
  space.is_over = false;
  const auto [own, is_new] = own_of_.try_emplace(pid, stat.mm_id);
  if (!is_new && own->second != stat.mm_id) {
    end(spaces_[own->second]);
    own->second = stat.mm_id;
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
    sums_[sum_of(member)] -= std::exchange(space.bytes.at(member), 0);
  }
  space.is_over = true;
}

}  // namespace memtrace
