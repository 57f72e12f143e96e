// Arguments of the calls about shared memory, in words.
#pragma once

#include <cstdint>
#include <string>

#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

// include/uapi/linux/ipc.h, shm.h.
inline constexpr std::uint64_t kIpcPrivate = 0;
inline constexpr std::uint64_t kIpcCreate = 01000;
inline constexpr std::uint64_t kIpcExclusive = 02000;
inline constexpr std::uint64_t kIpcRemove = 0;

// shmctl's command without the bit for the form of its structure (IPC_64).
std::uint64_t shm_command(const SystemCallDone& done);

// "key=IPC_PRIVATE size=4096 flags=IPC_CREAT|0600".
std::string shm_arguments(const SystemCallDone& done);

}  // namespace memtrace
