// The CPUs that this process may run on.
#pragma once

#include <sched.h>

#include <cstddef>

namespace memtrace {

// 1 where the kernel does not say: it has more CPUs than the mask has bits.
inline std::size_t usable_cpu_count() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return ::sched_getaffinity(0, sizeof(cpus), &cpus) == 0
             ? static_cast<std::size_t>(CPU_COUNT(&cpus))
             : 1;
}

}  // namespace memtrace
