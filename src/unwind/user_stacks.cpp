#include "unwind/user_stacks.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "unwind/sampled_registers.h"

namespace memtrace {

UserStacks::UserStacks(World& world) : unwinder_(world), repair_(world) {
  unwinder_.set_pending_returns(
      [this](std::uint32_t tid, std::uint64_t avma) { return slots_.find(tid, avma); });
}

std::span<const std::uint64_t> UserStacks::complete(const Sample& sample) {
  const auto shrunk = shrunk_stack(sample);
  if (!shrunk && follows_frame_pointers(sample.callchain)) {
    return repair_.repair(sample);
  }
  const auto chain = unwinder_.unwind(sample);
  note_return_slot(sample, shrunk, chain);
  return chain;
}

void UserStacks::note_return_slot(const Sample& sample,
                                  const std::optional<ShrunkStack>& shrunk,
                                  std::span<const std::uint64_t> chain) {
  const auto marker = std::find(chain.begin(), chain.end(), kContextUser);
  if (std::distance(marker, chain.end()) <= 2) {
    return;
  }
  ReturnSlots::Top top{.caller = *(marker + 2)};
  if (shrunk) {
    top.avma = shrunk->stack_pointer;
    top.value = shrunk->top;
  } else if (sample.user_stack.size() >= sizeof(top.value)) {
    top.avma = sampled_registers(sample.registers)[kHostRegisters.stack_pointer];
    std::memcpy(&top.value, sample.user_stack.data(), sizeof(top.value));
  }
  slots_.note(sample.tid, top);
}

bool UserStacks::follows_frame_pointers(std::span<const std::uint64_t> chain) {
  return std::find(chain.begin(), chain.end(), kContextUser) != chain.end();
}

}  // namespace memtrace
