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
    if (log_ != nullptr) {
      log_->enter({process.pid, space_});
    }
  }

  // Tells others what is learnt from now on; `log` outlives the rules.
  void share(SharedRules& log) { log_ = &log; }

  // For a return address ask for the byte before it: a call may be the last instruction of a
  // function.
  const CodePlace& at(std::uint64_t avma) {
    const CodePlace* known = table_.find(space_, avma);
    return known != nullptr ? *known : learn(avma);
  }

  // Whether an address means in the space that was entered what it meant in another one.
  bool is_same_in(std::uint64_t other_space, std::uint64_t avma);

  // Null when nobody has asked about the address yet.
  const CodePlace* known(std::uint64_t avma) const { return table_.find(space_, avma); }

  // The process that was entered, as it is now: what the table calls it.
  std::uint64_t space() const { return space_; }

  const RuleTable& table() const { return table_; }

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
  const CodePlace& learn(std::uint64_t avma);

  const World& world_;
  const Process* process_ = nullptr;
  std::uint64_t space_ = 0;
  RuleTable table_;
  SharedRules* log_ = nullptr;
  std::unordered_map<ModuleId, std::unique_ptr<FrameRules>> by_module_;
  std::unordered_map<ModuleId, FunctionEntries> entries_;  // of modules that needed them
};

}  // namespace memtrace
