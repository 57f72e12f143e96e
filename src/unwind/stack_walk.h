// From one frame to its caller, and on to the end of the stack.
//
// Nearly every frame needs its stack pointer, frame pointer and program counter only, so no more is
// carried along. A frame that needs another register (a realigned stack on r10, an r12 that was set
// three calls ago) makes the walk begin again with all of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "os/host_machine.h"
#include "symbolize/cfi/register_file.h"
#include "unwind/address_rules.h"

namespace memtrace {

// How a stack ended, and so whether it is whole. Complete: at a frame that has no caller. TooShort:
// the copy of the stack ends there. WithoutRules: at code without CFI, where the frame pointer
// leads nowhere either. Unmapped: a return address that is no code. Trampoline: a pending return
// probe hides the caller. Loop: the stack went downwards. TooDeep: more frames than memtrace keeps.
// Undecodable: the CFI needs what is not known. NoRegisters: a kernel thread or a 32-bit program.
// Replaced: other code took a frame's place between its sample and its unwinding. Shed: memtrace
// cut its copy under overload. NotCopied: the kernel gave registers and none of the stack. Foreign:
// it is another kind of machine's.
enum class StackEnd : std::uint8_t {
  Complete,
  TooShort,
  WithoutRules,
  Unmapped,
  Trampoline,
  Loop,
  TooDeep,
  Undecodable,
  NoRegisters,
  Replaced,
  Shed,
  NotCopied,
  Foreign,
};

inline constexpr std::size_t kStackEnds = 13;

// The return address that a pending return probe replaced at this place of a thread's stack.
using PendingReturns =
    std::function<std::optional<std::uint64_t>(std::uint32_t tid, std::uint64_t slot_avma)>;

// Arm's pointer authentication keeps a signature in the upper bits of a saved return address.
inline std::uint64_t without_signature(std::uint64_t address) {
#if defined(__aarch64__)
  return address & ((std::uint64_t{1} << 48U) - 1);
#else
  return address;
#endif
}

class StackWalk {
 public:
  static constexpr std::size_t kMaxFrames = 1024;

  explicit StackWalk(AddressRules& rules) : rules_(rules) {}

  void set_pending_returns(PendingReturns pending) { pending_ = std::move(pending); }

  struct Start {
    std::uint32_t tid = 0;
    const RegisterFile& registers;  // at least stack pointer and program counter
    StackBytes stack;
  };

  // In the process that the rules have entered.
  StackEnd walk(const Start& start);

  // The addresses of the last walk: the first is the program counter, the others are return
  // addresses.
  std::span<const std::uint64_t> frames() const { return std::span(frames_).first(count_); }

  // Whose code the outermost frame is in.
  ModuleId end_module() const { return rules_.module_at(frames_[count_ - 1]); }

 private:
  // A walk goes on, or needs the registers that it did not carry along.
  enum class Step : std::uint8_t { GoOn, NeedsRegisters, End };

  void begin(const Start& start);
  Step walk_all();
  void hurry();
  Step step(const CodePlace& place);
  Step plain_step(const FrameRule& rule);
  Step full_step();
  Step frame_pointer_step();
  Step leave_signal_or_call(const FullFrameRule& rule, std::uint64_t cfa);
  Step arrive();
  bool is_at_trampoline();
  Step pass_trampoline();
  Step end(StackEnd how);
  Step fail(CfiFailure failure);
  Step outside(std::uint64_t avma);
  void sync_registers();

  // Where the walk has come to. Of its registers a frame has what nearly every caller needs.
  struct Frame {
    std::uint64_t pc = 0;
    std::uint64_t sp = 0;
    std::uint64_t fp = 0;
    std::uint64_t slot = 0;  // where the return address was read
    CodePlace place;         // of pc
    bool exact = true;       // pc is an instruction that was interrupted, no return address
    bool by_frame_pointer = false;

    std::uint64_t lookup_avma() const { return exact ? pc : pc - 1; }
  };

  AddressRules& rules_;
  PendingReturns pending_;
  std::uint32_t tid_ = 0;
  StackBytes stack_;
  Frame frame_;
  RegisterFile registers_;
  bool all_known_ = true;  // registers_ holds for this frame, not only pc, sp and fp
  bool carries_all_ = false;
  StackEnd end_ = StackEnd::Complete;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kMaxFrames> frames_{};
};

}  // namespace memtrace
