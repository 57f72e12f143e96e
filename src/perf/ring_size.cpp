#include "perf/ring_size.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>

#include "base/system.h"
#include "base/text.h"
#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::size_t kLargestRing = std::size_t{64} << 20U;
constexpr std::size_t kLargestStackRing = std::size_t{256} << 20U;
constexpr std::size_t kSmallestQueue = std::size_t{16} << 20U;
constexpr std::size_t kLargestQueue = std::size_t{2} << 30U;

std::uint64_t total_memory_bytes() {
  struct sysinfo info {};

  ::sysinfo(&info);
  return std::uint64_t{info.totalram} * info.mem_unit;
}

// Sizes are rounded up to a power of two, and a ring's memory cannot be swapped out.
Result<> check_ring_bytes(std::size_t ring_bytes, std::size_t cpu_count) {
  const std::uint64_t most_bytes =
      std::bit_floor(total_memory_bytes() / 2 / std::max<std::size_t>(cpu_count, 1));
  if (ring_bytes > most_bytes) {
    return Error{format("--ring-size: %s for each of %zu CPUs is more than half of the memory",
                        print_bytes(ring_bytes).c_str(),
                        cpu_count),
                 0,
                 "give at most " + print_bytes(most_bytes),
                 ErrorKind::Usage};
  }
  return kDone;
}

bool copies_stacks(const EventSetup& setup) {
  const bool of_probes = setup.call_graph.for_probes().stack_bytes != 0;
  return setup.call_graph.stack_bytes != 0 ||
         std::any_of(setup.events.begin(), setup.events.end(), [&](const EventRequest& request) {
           return request.on_user_code && request.stacks && of_probes;
         });
}

}  // namespace

std::size_t default_ring_bytes(std::uint64_t total_memory,
                               std::size_t cpu_count,
                               bool copies_stacks) {
  const std::uint64_t share = total_memory / std::max<std::size_t>(cpu_count, 1);
  const std::size_t ring_bytes =
      std::clamp<std::size_t>(share / (copies_stacks ? 16 : 64), kSmallestRing, kLargestRing);
  const std::size_t larger_ring_bytes = std::min<std::size_t>(share / 32, kLargestStackRing);
  return std::bit_floor(copies_stacks ? std::max(ring_bytes, larger_ring_bytes) : ring_bytes);
}

std::size_t queue_limit_bytes(std::uint64_t total_memory) {
  return std::clamp<std::size_t>(total_memory / 12, kSmallestQueue, kLargestQueue);
}

std::size_t queue_limit_bytes() {
  return queue_limit_bytes(total_memory_bytes());
}

Result<std::size_t> choose_ring_bytes(const EventSetup& setup, std::size_t cpu_count) {
  TRY(check_ring_bytes(setup.ring_bytes, cpu_count));
  return setup.ring_bytes != 0
             ? std::bit_ceil(std::max(setup.ring_bytes, page_size_bytes()))
             : default_ring_bytes(total_memory_bytes(), cpu_count, copies_stacks(setup));
}

}  // namespace memtrace
