#include "pipeline/user_stacks.h"

#include <algorithm>
#include <iterator>

#include "pipeline/sampled_registers.h"

namespace memtrace {

UserStacks::UserStacks(World& world) : unwinder_(world), repair_(world) {
  unwinder_.set_pending_returns(
      [this](std::uint32_t tid, std::uint64_t avma) { return slots_.find(tid, avma); });
}

std::span<const std::uint64_t> UserStacks::complete(const Sample& sample) {
  if (follows_frame_pointers(sample.callchain)) {
    return repair_.repair(sample);
  }
  const auto chain = unwinder_.unwind(sample);
  note_return_slot(sample, chain);
  return chain;
}

void UserStacks::note_return_slot(const Sample& sample, std::span<const std::uint64_t> chain) {
  const auto marker = std::find(chain.begin(), chain.end(), kContextUser);
  const RegisterFile registers = sampled_registers(sample.registers);
  if (std::distance(marker, chain.end()) > 2 && registers.has(kHostRegisters.stack_pointer)) {
    slots_.note(sample, registers[kHostRegisters.stack_pointer], *(marker + 2));
  }
}

bool UserStacks::follows_frame_pointers(std::span<const std::uint64_t> chain) {
  return std::find(chain.begin(), chain.end(), kContextUser) != chain.end();
}

}  // namespace memtrace
