#include "tracepoints/decode/system_calls.h"

#include <algorithm>

#include "os/host_machine.h"

namespace memtrace {
namespace {

struct CallFacts {
  std::string_view entry;
  std::string_view exit;
  std::int32_t x86_64 = kNoNumber;
  std::int32_t arm64 = kNoNumber;
  std::array<std::string_view, 6> arguments = {};  // "new name|old name"
};

// In the order of SystemCall. Numbers are part of the kernel's ABI:
// arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
// clang-format off
constexpr auto kCalls = std::to_array<CallFacts>({
    {"syscalls:sys_enter_mmap", "syscalls:sys_exit_mmap", 9, 222, {"addr", "len", "prot", "flags", "fd", "off"}},
    {"syscalls:sys_enter_munmap", "syscalls:sys_exit_munmap", 11, 215, {"addr", "len"}},
    {"syscalls:sys_enter_mprotect", "syscalls:sys_exit_mprotect", 10, 226, {"start", "len", "prot"}},
    {"syscalls:sys_enter_pkey_mprotect", "syscalls:sys_exit_pkey_mprotect", 329, 288, {"start", "len", "prot", "pkey"}},
    {"syscalls:sys_enter_mremap", "syscalls:sys_exit_mremap", 25, 216, {"addr", "old_len", "new_len", "flags", "new_addr"}},
    {"syscalls:sys_enter_madvise", "syscalls:sys_exit_madvise", 28, 233, {"start", "len_in|len", "behavior"}},
    {"syscalls:sys_enter_brk", "syscalls:sys_exit_brk", 12, 214, {"brk"}},
    {"syscalls:sys_enter_shmget", "syscalls:sys_exit_shmget", 29, 194, {"key", "size", "shmflg"}},
    {"syscalls:sys_enter_shmat", "syscalls:sys_exit_shmat", 30, 196, {"shmid", "shmaddr", "shmflg"}},
    {"syscalls:sys_enter_shmdt", "syscalls:sys_exit_shmdt", 67, 197, {"shmaddr"}},
    {"syscalls:sys_enter_shmctl", "syscalls:sys_exit_shmctl", 31, 195, {"shmid", "cmd", "buf"}},
    {"syscalls:sys_enter_memfd_create", "syscalls:sys_exit_memfd_create", 319, 279, {"uname", "flags"}},
    {"syscalls:sys_enter_ftruncate", "syscalls:sys_exit_ftruncate", 77, 46, {"fd", "length"}},
    {"syscalls:sys_enter_clone", "syscalls:sys_exit_clone", 56, 220, {"clone_flags"}},
    {"syscalls:sys_enter_clone3", "syscalls:sys_exit_clone3", 435, 435, {"uargs", "size"}},
    {"syscalls:sys_enter_fork", "syscalls:sys_exit_fork", 57, -1, {}},
    {"syscalls:sys_enter_vfork", "syscalls:sys_exit_vfork", 58, -1, {}},
    {"syscalls:sys_enter_sync", "syscalls:sys_exit_sync", 162, 81, {}},
    {"syscalls:sys_enter_syncfs", "syscalls:sys_exit_syncfs", 306, 267, {"fd"}},
    {"syscalls:sys_enter_fsync", "syscalls:sys_exit_fsync", 74, 82, {"fd"}},
    {"syscalls:sys_enter_fdatasync", "syscalls:sys_exit_fdatasync", 75, 83, {"fd"}},
    {"syscalls:sys_enter_msync", "syscalls:sys_exit_msync", 26, 227, {"start", "len", "flags"}},
    {"syscalls:sys_enter_sync_file_range", "syscalls:sys_exit_sync_file_range", 277, 84, {"fd", "offset", "nbytes|bytes", "flags"}},
});

// clang-format on

static_assert(kCalls.size() == kSystemCalls);

constexpr std::uint64_t kMaxNumber = 0xffff;

const CallFacts& facts_of(SystemCall call) {
  return kCalls.at(static_cast<std::size_t>(call));
}

}  // namespace

std::string_view entry_event(SystemCall call) {
  return facts_of(call).entry;
}

std::string_view exit_event(SystemCall call) {
  return facts_of(call).exit;
}

std::span<const std::string_view> argument_names(SystemCall call) {
  return facts_of(call).arguments;
}

std::optional<SystemCall> call_of_event(std::string_view event) {
  const auto* const found = std::ranges::find_if(kCalls, [event](const CallFacts& facts) {
    return facts.entry == event || facts.exit == event;
  });
  return found == kCalls.end() ? std::nullopt
                               : std::optional(static_cast<SystemCall>(found - kCalls.begin()));
}

CallNumbers::CallNumbers(std::string_view architecture) {
  const std::string_view machine = architecture.empty() ? kHostMachine : architecture;
  numbers_.fill(kNoNumber);
  for (std::size_t i = 0; i < kCalls.size(); ++i) {
    if (machine == "x86_64") {
      numbers_[i] = kCalls.at(i).x86_64;
    } else if (machine == "aarch64") {
      numbers_[i] = kCalls.at(i).arm64;
    }
  }
}

SystemCall CallNumbers::call(std::uint64_t number) const {
  if (number > kMaxNumber) {
    return SystemCall::Other;  // -1: not in a call, or no longer (sigreturn)
  }
  const auto* const found = std::ranges::find(numbers_, static_cast<std::int32_t>(number));
  return static_cast<SystemCall>(found - numbers_.begin());  // the end is Other
}

std::optional<std::uint32_t> CallNumbers::number(SystemCall call) const {
  if (call == SystemCall::Other || numbers_[static_cast<std::size_t>(call)] == kNoNumber) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(numbers_[static_cast<std::size_t>(call)]);
}

bool is_raw_call_event(std::string_view event) {
  return std::ranges::find(kRawEntries, event) != kRawEntries.end() ||
         std::ranges::find(kRawExits, event) != kRawExits.end();
}

bool is_raw_entry(std::string_view event) {
  return std::ranges::find(kRawEntries, event) != kRawEntries.end();
}

}  // namespace memtrace
