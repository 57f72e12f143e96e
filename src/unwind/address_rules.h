// The unwinding rule for an address of a process: through its mappings to a module, and through the
// module's file to its call frame information; remembered, so that all this happens once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "state/world/world.h"
#include "symbolize/cfi/frame_rule.h"
#include "symbolize/code/function_entries.h"
#include "unwind/rule_table.h"
#include "unwind/shared_rules.h"

namespace memtrace {

class AddressRules {
 public:
  explicit AddressRules(const World& world) : world_(world) {}

  // What follows is asked about this process as it is now; it stays until the next enter().
  void enter(const Process& process) {
    process_ = &process;
    space_ = (process.serial << 32U) | (process.space.generation() & 0xffffffffU);
    shared_->spaces.enter(process.pid, space_);
  }

  // What is learnt from now on is there for others, too. `shared` outlives the rules.
  void share(SharedRules& shared) {
    shared_ = &shared;
    own_.reset();
  }

  // For a return address ask for the byte before it: a call may be the last instruction of a
  // function.
  CodePlace at(std::uint64_t avma) {
    const auto known = shared_->rules.find(space_, avma);
    return known ? *known : learn(avma);
  }

  // Whether an address means in the space that was entered what it meant in another one.
  bool is_same_in(std::uint64_t other_space, std::uint64_t avma);

  // Nothing when nobody has asked about the address yet, or long ago.
  std::optional<CodePlace> known(std::uint64_t avma) const {
    return shared_->rules.find(space_, avma);
  }

  // The process that was entered, as it is now: what the table calls it.
  std::uint64_t space() const { return space_; }

  const RuleTable& table() const { return shared_->rules; }

  // Null when the address is no code with rules.
  const FullFrameRule* full_at(std::uint64_t avma);

  ModuleId module_at(std::uint64_t avma) const {
    return process_->space.locate(avma, false).module;
  }

  // The rule for a place in a file; nothing if neither the file's CFI nor its symbols have one.
  std::optional<FrameRule> rule_of(const CodeLocation& location);

 private:
  // Null when the module has no CFI or is not to be found.
  FrameRules* of_module(ModuleId id);
  bool is_function_entry(const CodeLocation& location);
  CodePlace look_up(std::uint64_t avma);
  CodePlace learn(std::uint64_t avma);

  const World& world_;
  const Process* process_ = nullptr;
  std::uint64_t space_ = 0;
  std::unique_ptr<SharedRules> own_ = std::make_unique<SharedRules>();
  SharedRules* shared_ = own_.get();
  std::unordered_map<ModuleId, std::unique_ptr<FrameRules>> by_module_;
  std::unordered_map<ModuleId, FunctionEntries> entries_;  // of modules that needed them
};

}  // namespace memtrace
