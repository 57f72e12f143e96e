#include "unwind/caller_repair.h"

#include <algorithm>
#include <cstring>

#include "unwind/sampled_registers.h"

namespace memtrace {
std::span<const std::uint64_t> CallerRepair::repair(const Sample& sample) {
  const auto chain = sample.callchain;
  const auto marker = std::find(chain.begin(), chain.end(), kContextUser);
  const Process* process = world_.processes().find(sample.pid);
  if (marker == chain.end() || process == nullptr || marker + 1 == chain.end()) {
    return chain;
  }
  const auto caller = return_address(sample, *process);
  const auto innermost = marker + 1;
  const bool is_there = innermost + 1 != chain.end() && caller && *(innermost + 1) == *caller;
  if (!caller || is_there) {
    return chain;
  }
  chain_.assign(chain.begin(), innermost + 1);
  chain_.push_back(*caller);
  chain_.insert(chain_.end(), innermost + 1, chain.end());
  ++repaired_;
  return chain_;
}

std::optional<std::uint64_t> CallerRepair::return_address(const Sample& sample,
                                                          const Process& process) {
  const RegisterFile registers = registers_of(sample);
  if (!registers.has(kHostRegisters.program_counter)) {
    return std::nullopt;
  }
  const CodeLocation location =
      process.space.locate(registers[kHostRegisters.program_counter], false);
  const auto rule = location.module.valid() ? rules_.rule_of(location) : std::nullopt;
  if (!rule || rule->kind != FrameRule::Kind::Simple ||
      rule->cfa_register != kHostRegisters.stack_pointer ||
      rule->ra_offset_bytes == FrameRule::kInRegister) {
    return std::nullopt;
  }
  const std::int64_t at = std::int64_t{rule->cfa_offset_bytes} + rule->ra_offset_bytes;
  std::uint64_t caller = 0;
  if (at < 0 || static_cast<std::size_t>(at) + sizeof(caller) > sample.user_stack.size()) {
    return std::nullopt;
  }
  std::memcpy(&caller, sample.user_stack.data() + at, sizeof(caller));
  return process.space.locate(caller, true).module.valid() ? std::optional(caller) : std::nullopt;
}

}  // namespace memtrace
