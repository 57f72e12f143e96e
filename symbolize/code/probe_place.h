// Where in a function to put a user probe so that it costs the traced program least, where its
// result can be read, and where it returns. x86-64; elsewhere a probe goes to the entry.
//
// A probe costs a trap, and two more where the kernel has to step over the instruction that it
// replaced instead of emulating it: 0.8 and 8.5 us in a virtual machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolize/code/x86_code.h"

namespace memtrace {

struct FunctionCode {
  std::span<const std::byte> bytes;
  std::uint16_t machine = 0;  // EM_X86_64
};

struct PlaceRequest {
  RegisterMask needed = 0;          // registers that must still hold the caller's arguments
  bool allow_early_return = false;  // calls that return at once need not be seen: free(NULL)
  bool push_is_emulated = true;     // from Linux 4.18 and RHEL 8.0
};

struct ProbePlace {
  std::uint64_t offset_bytes = 0;  // from the entry
  // How far sp has moved down: the return address is at sp + pushed_bytes.
  std::int64_t pushed_bytes = 0;
  bool is_emulated = false;
  bool skips_early_returns = false;  // calls that return at once do not come by
};

// The first place that every call passes, once, with its arguments in their registers, and whose
// instruction the kernel emulates; the entry when there is none. With allow_early_return the last
// branch to a plain return is passed too.
ProbePlace find_probe_place(const FunctionCode& code, const PlaceRequest& request);

// Where the pointer that a function was given as its first argument gets its value: for
// posix_memalign, whose result cannot be read when it returns.
struct ResultStore {
  std::uint64_t offset_bytes = 0;  // the instruction behind the store, or the store itself where
                                   // other paths lead to the one behind
  X86Register result = X86Register::Ax;  // holds the value there
};

// Each of them; nothing where they are not certain.
std::vector<ResultStore> find_result_stores(const FunctionCode& code);

// Where a function ends, for one that must not get a return probe because an exception may cross
// it (operator new): the kernel's trampoline has no unwind information and the program aborts.
struct ReturnPlaces {
  struct TailCall {
    std::uint64_t offset_bytes = 0;
    std::int64_t target = 0;  // from the entry
  };

  std::vector<std::uint64_t> returns;  // offsets of ret: the result is in ax
  std::vector<TailCall> tail_calls;    // the result is what the target returns
  bool is_complete = true;             // false: it also jumps where only a register says
};

ReturnPlaces find_return_places(const FunctionCode& code);

}  // namespace memtrace
