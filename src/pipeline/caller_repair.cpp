#include "pipeline/caller_repair.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/system.h"

namespace memtrace {
namespace {

// The value of the register with this number; nothing when it was not sampled.
std::optional<std::uint64_t> register_value(const UserRegisters& registers, unsigned number) {
  const std::uint64_t bit = std::uint64_t{1} << number;
  const auto index = static_cast<std::size_t>(std::popcount(registers.mask & (bit - 1)));
  if ((registers.mask & bit) == 0 || index >= registers.values.size()) {
    return std::nullopt;
  }
  return registers.values[index];
}

#if defined(__x86_64__)
constexpr unsigned kInstructionPointer = 8;  // PERF_REG_X86_IP
#else
constexpr unsigned kInstructionPointer = 32;  // PERF_REG_ARM64_PC
#endif

}  // namespace

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
  const auto ip = register_value(sample.registers, kInstructionPointer);
  if (!ip) {
    return std::nullopt;
  }
  const CodeLocation location = process.space.locate(*ip, false);
  FrameRules* rules = location.module.valid() ? rules_of(location.module) : nullptr;
  const auto rule = rules == nullptr ? std::nullopt : rules->at(location.offset);
  if (!rule || rule->base != FrameRule::Base::StackPointer) {
    return std::nullopt;
  }
  const std::int64_t at = rule->cfa_offset_bytes + rule->ra_offset_bytes;
  std::uint64_t caller = 0;
  if (at < 0 || static_cast<std::size_t>(at) + sizeof(caller) > sample.user_stack.size()) {
    return std::nullopt;
  }
  std::memcpy(&caller, sample.user_stack.data() + at, sizeof(caller));
  return process.space.locate(caller, true).module.valid() ? std::optional(caller) : std::nullopt;
}

FrameRules* CallerRepair::rules_of(ModuleId id) {
  const auto [found, is_new] = rules_.try_emplace(id);
  const Module& module = world_.modules().at(id);
  if (is_new && module.kind == ModuleKind::File) {
    // As the process sees it: it may live in another mount namespace.
    const std::string seen = "/proc/" + std::to_string(module.pid) + "/root" + module.path;
    found->second = FrameRules::open(path_exists(seen) ? seen : module.path);
  }
  return found->second.get();
}

}  // namespace memtrace
