// Where a frame's return address lies, from the call frame information of the file (.eh_frame,
// .debug_frame; DWARF 5 section 6.4). The first brick of unwinding: used to put back the caller
// that a frame-pointer chain loses while a function has not pushed its frame yet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace memtrace {

// The canonical frame address is base + cfa_offset; the return address is at CFA + ra_offset.
//
//   higher   CFA ->  the caller's frame
//      |             return address      CFA + ra_offset
//      v             saved frame pointer CFA + fp_offset
//   lower    sp  ->  locals
struct FrameRule {
  // Other: what these fields cannot say (a DWARF expression, a return address in a register).
  enum class Base : std::uint8_t { StackPointer, FramePointer, Other };
  Base base = Base::Other;
  bool is_outermost = false;  // there is no caller, and the CFI says so; base is Other
  std::int64_t cfa_offset_bytes = 0;
  std::int64_t ra_offset_bytes = -8;
  // Where the caller's frame pointer was saved; nothing: it is still in its register.
  std::optional<std::int64_t> fp_offset_bytes;
};

// The rules of one ELF file; each is computed once and cached.
class FrameRules {
 public:
  // Nothing for files without CFI or that cannot be opened.
  static std::unique_ptr<FrameRules> open(const std::string& path);

  FrameRules(const FrameRules&) = delete;
  FrameRules& operator=(const FrameRules&) = delete;
  ~FrameRules();

  // The rule at a file offset (not SVMA); nothing when the CFI does not cover it.
  std::optional<FrameRule> at(std::uint64_t file_offset);

 private:
  struct State;
  explicit FrameRules(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memtrace
