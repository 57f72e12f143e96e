#include "perf/event/ring_size.h"

#include <fmt/core.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>

#include "base/units.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::size_t kLargestRing = std::size_t{64} << 20U;
constexpr std::size_t kLargestStackRing = std::size_t{256} << 20U;
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
    return Error{fmt::format("--ring-size: {} for each of {} CPUs is more than half of the memory",
                             print_bytes(ring_bytes),
                             cpu_count),
                 0,
                 "give at most " + print_bytes(most_bytes),
                 ErrorKind::Usage};
  }
  return kDone;
}

StackCopies stack_copies_of(const EventSetup& setup) {
  auto copies = StackCopies::None;
  for (const EventRequest& request : setup.events) {
    if (request.is_of_windows()) {  // then few samples of each event are recorded
      return StackCopies::Some;
    }
    const CallGraph graph = call_graph_of(request, setup.attrs.call_graph);
    const bool of_each = graph.at_calls || !graph.skip_kernel_work;
    if (graph.stack_bytes != 0) {
      copies = std::max(copies, of_each ? StackCopies::Many : StackCopies::Some);
    }
  }
  return copies;
}

}  // namespace

std::size_t default_ring_bytes(std::uint64_t total_memory,
                               std::size_t cpu_count,
                               StackCopies copies) {
  const std::uint64_t share = total_memory / std::max<std::size_t>(cpu_count, 1);
  const auto part = [share](std::uint64_t divisor) {
    return std::clamp<std::size_t>(share / divisor, kSmallestRing, kLargestRing);
  };
  switch (copies) {
    case StackCopies::None:
      return std::bit_floor(part(64));
    case StackCopies::Some:
      return std::bit_floor(part(32));
    case StackCopies::Many:
      break;
  }
  return std::bit_floor(std::max(part(16), std::min<std::size_t>(share / 32, kLargestStackRing)));
}

std::size_t queue_limit_bytes(std::uint64_t total_memory) {
  return std::clamp<std::size_t>(total_memory / 12, kSmallestQueueBytes, kLargestQueue);
}

std::size_t queue_limit_bytes() {
  return queue_limit_bytes(total_memory_bytes());
}

Result<std::size_t> choose_ring_bytes(const EventSetup& setup, std::size_t cpu_count) {
  TRY(check_ring_bytes(setup.ring_bytes, cpu_count));
  return setup.ring_bytes != 0
             ? std::bit_ceil(std::max(setup.ring_bytes, page_size_bytes()))
             : default_ring_bytes(total_memory_bytes(), cpu_count, stack_copies_of(setup));
}

}  // namespace memtrace
