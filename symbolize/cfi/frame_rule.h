// Where a frame's caller lies, from the call frame information of the file (.eh_frame,
// .debug_frame; DWARF 5 section 6.4): what unwinding a stack needs, in as few bytes as possible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/cfi/cfi_expression.h"
#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/module_description.h"

namespace memtrace {

// What nearly all frames need: the canonical frame address is a register + cfa_offset, and the
// return address and the caller's frame pointer lie at offsets from it.
//
//   higher   CFA ->  the caller's frame
//      |             return address      CFA + ra_offset
//      v             saved frame pointer CFA + fp_offset
//   lower    sp  ->  locals
struct FrameRule {
  // Outermost: there is no caller, and the CFI says so. Full: only a FullFrameRule can say it.
  enum class Kind : std::uint8_t { Simple, Outermost, Full };
  static constexpr std::int16_t kInRegister = INT16_MIN;  // not saved: it is where it was

  Kind kind = Kind::Full;
  std::uint8_t cfa_register = 0;  // DWARF number
  std::int16_t ra_offset_bytes = kInRegister;
  std::int16_t fp_offset_bytes = kInRegister;
  std::int32_t cfa_offset_bytes = 0;
};

// All of a frame's rule, as expressions; registers that are not named stay as they are.
struct FullFrameRule {
  CfiExpression cfa;
  std::vector<std::pair<std::uint8_t, CfiExpression>> saved;  // by DWARF number
  std::vector<std::uint8_t> lost;                             // undefined in the caller
  std::uint8_t return_address = 0;                            // its column
  // The kernel made this frame: its caller was interrupted, not left by a call.
  bool is_signal_frame = false;
};

// The rules of one ELF file; each is computed once and cached.
class FrameRules {
 public:
  // Nothing for files without CFI or that cannot be opened.
  static std::unique_ptr<FrameRules> open(const std::string& path);

  // For a mapped file, wherever it can be found now, or the vdso. CFI in its separate debug file is
  // used for what its own does not cover.
  static std::unique_ptr<FrameRules> open(const ModuleDescription& module,
                                          const DebugPlaces& places);

  FrameRules(const FrameRules&) = delete;
  FrameRules& operator=(const FrameRules&) = delete;
  FrameRules(FrameRules&&) = delete;
  FrameRules& operator=(FrameRules&&) = delete;
  ~FrameRules();

  // The rule at a file offset (not SVMA); nothing when the CFI does not cover it.
  std::optional<FrameRule> at(std::uint64_t file_offset);

  // The same in full, valid as long as this object; null when the CFI does not cover it.
  const FullFrameRule* full_at(std::uint64_t file_offset);

 private:
  struct State;
  explicit FrameRules(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memtrace
