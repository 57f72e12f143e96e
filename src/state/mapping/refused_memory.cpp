#include "state/mapping/refused_memory.h"

#include <cerrno>

namespace memtrace {

bool was_refused_memory(const SystemCallDone& done) {
  const int error = done.error();
  switch (done.call) {
    case SystemCall::Brk:
      return static_cast<std::uint64_t>(done.result) < done.arguments[0];
    case SystemCall::Mmap:
    case SystemCall::Mremap:
    case SystemCall::Clone:
    case SystemCall::Clone3:
    case SystemCall::Fork:
    case SystemCall::Vfork:
      return error == ENOMEM || error == EAGAIN;
    case SystemCall::Shmget:
      return error == ENOMEM || error == ENOSPC;
    case SystemCall::Mprotect:
    case SystemCall::PkeyMprotect:
    case SystemCall::Shmat:
      return error == ENOMEM;
    default:
      return false;
  }
}

}  // namespace memtrace
