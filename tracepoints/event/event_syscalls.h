// Payloads of system calls. The entry has the arguments, the exit the result; the world makes one
// event of both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace memtrace {

// The calls that memtrace distinguishes; tracepoints/decode/system_calls.cpp names their events and
// arguments.
enum class SystemCall : std::uint8_t {
  Mmap,
  Munmap,
  Mprotect,
  PkeyMprotect,
  Mremap,
  Madvise,
  Brk,
  Shmget,
  Shmat,
  Shmdt,
  Shmctl,
  MemfdCreate,
  Ftruncate,
  Clone,
  Clone3,
  Fork,
  Vfork,
  Sync,
  Syncfs,
  Fsync,
  Fdatasync,
  Msync,
  SyncFileRange,
  Other,  // by number only: raw_syscalls reports all
};

inline constexpr std::size_t kSystemCalls = static_cast<std::size_t>(SystemCall::Other);

// In the order of the C function's parameters, as raw_syscalls:sys_enter has them too. Registers as
// they were: of a parameter that is an int only the low 32 bits mean something.
using SystemCallArguments = std::array<std::uint64_t, 6>;

// syscalls:sys_enter_*, raw_syscalls:sys_enter
struct SystemCallEntry {
  SystemCall call = SystemCall::Mmap;
  SystemCallArguments arguments{};
};

// syscalls:sys_exit_*, raw_syscalls:sys_exit
struct SystemCallExit {
  SystemCall call = SystemCall::Mmap;
  std::int64_t result = 0;  // -errno on failure
};

// Made of both, at the exit: the event has the stack of the entry.
struct SystemCallDone {
  SystemCall call = SystemCall::Mmap;
  SystemCallArguments arguments{};
  std::int64_t result = 0;
  std::uint64_t duration_ns = 0;

  // The last 4095 values are errors (include/linux/err.h, MAX_ERRNO). brk(2) never fails: it
  // returns the top as it is, whatever it was asked for.
  bool failed() const { return result < 0 && result >= -4095; }

  int error() const { return failed() ? static_cast<int>(-result) : 0; }
};

}  // namespace memtrace
