// System calls: which events they have and what their arguments are called. The fields of an entry
// are named after the parameters of the kernel's function, those of all exits are one, `ret`
// (kernel/trace/trace_syscalls.c).
#include <array>
#include <utility>

#include "tracepoints/field_lookup.h"
#include "tracepoints/tracepoint.h"

namespace memtrace {
namespace {

struct CallEvents {
  SystemCall call = SystemCall::Mmap;
  std::string_view entry;
  std::string_view exit;
  std::array<std::string_view, 6> arguments = {};  // "new name|old name"
};

// clang-format off
constexpr auto kCalls = std::to_array<CallEvents>({
    {SystemCall::Mmap, "syscalls:sys_enter_mmap", "syscalls:sys_exit_mmap", {"addr", "len", "prot", "flags", "fd", "off"}},
    {SystemCall::Munmap, "syscalls:sys_enter_munmap", "syscalls:sys_exit_munmap", {"addr", "len"}},
    {SystemCall::Mprotect, "syscalls:sys_enter_mprotect", "syscalls:sys_exit_mprotect", {"start", "len", "prot"}},
    {SystemCall::PkeyMprotect, "syscalls:sys_enter_pkey_mprotect", "syscalls:sys_exit_pkey_mprotect", {"start", "len", "prot", "pkey"}},
    {SystemCall::Mremap, "syscalls:sys_enter_mremap", "syscalls:sys_exit_mremap", {"addr", "old_len", "new_len", "flags", "new_addr"}},
    {SystemCall::Madvise, "syscalls:sys_enter_madvise", "syscalls:sys_exit_madvise", {"start", "len_in|len", "behavior"}},
    {SystemCall::Brk, "syscalls:sys_enter_brk", "syscalls:sys_exit_brk", {"brk"}},
    {SystemCall::Shmget, "syscalls:sys_enter_shmget", "syscalls:sys_exit_shmget", {"key", "size", "shmflg"}},
    {SystemCall::Shmat, "syscalls:sys_enter_shmat", "syscalls:sys_exit_shmat", {"shmid", "shmaddr", "shmflg"}},
    {SystemCall::Shmdt, "syscalls:sys_enter_shmdt", "syscalls:sys_exit_shmdt", {"shmaddr"}},
    {SystemCall::Shmctl, "syscalls:sys_enter_shmctl", "syscalls:sys_exit_shmctl", {"shmid", "cmd", "buf"}},
    {SystemCall::MemfdCreate, "syscalls:sys_enter_memfd_create", "syscalls:sys_exit_memfd_create", {"uname", "flags"}},
    {SystemCall::Ftruncate, "syscalls:sys_enter_ftruncate", "syscalls:sys_exit_ftruncate", {"fd", "length"}},
    {SystemCall::Clone, "syscalls:sys_enter_clone", "syscalls:sys_exit_clone", {"clone_flags"}},
    {SystemCall::Clone3, "syscalls:sys_enter_clone3", "syscalls:sys_exit_clone3", {"uargs", "size"}},
    {SystemCall::Fork, "syscalls:sys_enter_fork", "syscalls:sys_exit_fork", {}},
    {SystemCall::Vfork, "syscalls:sys_enter_vfork", "syscalls:sys_exit_vfork", {}},
});

// clang-format on

struct Arguments {
  std::array<NumberAt, 6> places;
  std::size_t count = 0;
};

Arguments find_arguments(const CallEvents& events, FieldLookup& lookup) {
  Arguments found;
  for (const std::string_view names : events.arguments) {
    if (names.empty()) {
      break;
    }
    const std::size_t bar = names.find('|');
    const std::string_view old_name = bar == std::string_view::npos ? names : names.substr(bar + 1);
    found.places.at(found.count++) = lookup.required({names.substr(0, bar), old_name});
  }
  return found;
}

template <std::size_t Index>
Result<Decoder> bind_entry(const EventFormat& format) {
  FieldLookup lookup(format);
  const Arguments arguments = find_arguments(kCalls[Index], lookup);
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> EventPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    SystemCallEntry entry{.call = kCalls[Index].call};
    for (std::size_t i = 0; i < arguments.count; ++i) {
      entry.arguments[i] = arguments.places[i].load(sample.raw.data());
    }
    return entry;
  });
}

template <std::size_t Index>
Result<Decoder> bind_exit(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt result = lookup.required({"ret"});
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> EventPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return SystemCallExit{.call = kCalls[Index].call,
                          .result = static_cast<std::int64_t>(result.load(sample.raw.data()))};
  });
}

template <std::size_t... Index>
constexpr auto make_tracepoints(std::index_sequence<Index...> /*all*/) {
  return std::array<Tracepoint, 2 * sizeof...(Index)>{
      Tracepoint{kCalls[Index].entry, &bind_entry<Index>}...,
      Tracepoint{kCalls[Index].exit, &bind_exit<Index>}...};
}

}  // namespace

std::span<const Tracepoint> system_call_tracepoints() {
  static constexpr auto kTracepoints = make_tracepoints(std::make_index_sequence<kCalls.size()>());
  return kTracepoints;
}

}  // namespace memtrace
