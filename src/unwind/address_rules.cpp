#include "unwind/address_rules.h"

#include "os/host_machine.h"
#include "state/process/describe_module.h"
#include "symbolize/elf/module_file.h"
#include "symbolize/names/symbolizer.h"

namespace memtrace {
namespace {

bool is_plain(const FrameRule& rule) {
  return rule.kind == FrameRule::Kind::Simple && rule.ra_offset_bytes != FrameRule::kInRegister &&
         (rule.cfa_register == kHostRegisters.stack_pointer ||
          rule.cfa_register == kHostRegisters.frame_pointer);
}

DebugPlaces places_of(const ModuleDescription& module) {
  return {Symbolizer::Options{}.debug_directory, roots_of(module)};
}

}  // namespace

// A mapping that comes to an address where there was none leaves the space the same: that there is
// nothing is not remembered.
CodePlace AddressRules::learn(std::uint64_t avma) {
  const CodePlace place = look_up(avma);
  if (place.where != CodePlace::Where::Unmapped) {
    shared_->rules.insert(space_, avma, place);
  }
  return place;
}

bool AddressRules::is_same_in(std::uint64_t other_space, std::uint64_t avma) {
  const auto other = shared_->rules.find(other_space, avma);
  return other && *other == at(avma);
}

CodePlace AddressRules::look_up(std::uint64_t avma) {
  using Where = CodePlace::Where;
  const CodeLocation location = process_->space.locate(avma, false);
  if (!location.module.valid()) {
    return {{}, Where::Unmapped};
  }
  if (world_.modules().at(location.module).path.starts_with("[uprobes")) {
    return {{}, Where::Trampoline};
  }
  const auto rule = rule_of(location);
  return rule ? CodePlace{*rule, Where::Code, is_plain(*rule)} : CodePlace{{}, Where::WithoutRules};
}

// A return address is asked for by the byte before, which is no function's first.
bool AddressRules::is_function_entry(const CodeLocation& location) {
  auto found = entries_.find(location.module);
  if (found == entries_.end()) {
    const ModuleDescription description = describe_module(world_.modules().at(location.module));
    found = entries_.try_emplace(location.module, description, places_of(description)).first;
  }
  return found->second.contains(location.offset);
}

// A call leaves the return address on top of the stack; on other machines it is in a register.
std::optional<FrameRule> AddressRules::rule_of(const CodeLocation& location) {
  FrameRules* rules = of_module(location.module);
  auto rule = rules == nullptr ? std::nullopt : rules->at(location.offset);
#if defined(__x86_64__)
  constexpr int kWordBytes = 8;
  if (!rule && is_function_entry(location)) {
    rule = FrameRule{.kind = FrameRule::Kind::Simple,
                     .cfa_register = kHostRegisters.stack_pointer,
                     .ra_offset_bytes = -kWordBytes,
                     .cfa_offset_bytes = kWordBytes};
  }
#endif
  return rule;
}

const FullFrameRule* AddressRules::full_at(std::uint64_t avma) {
  const CodeLocation location = process_->space.locate(avma, false);
  FrameRules* rules = location.module.valid() ? of_module(location.module) : nullptr;
  return rules == nullptr ? nullptr : rules->full_at(location.offset);
}

FrameRules* AddressRules::of_module(ModuleId id) {
  const auto [found, is_new] = by_module_.try_emplace(id);
  if (is_new) {
    const ModuleDescription description = describe_module(world_.modules().at(id));
    found->second = FrameRules::open(description, places_of(description));
  }
  return found->second.get();
}

}  // namespace memtrace
