#include "perf/cost/hit_cost.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "base/text.h"
#include "os/mapping.h"
#include "os/system.h"
#include "perf/event/event_fd.h"
#include "perf/event/ring_buffer.h"

namespace memtrace {
namespace {

constexpr std::size_t kFaults = 256;
constexpr std::size_t kRounds = 12;
// 256 samples of 8 KiB of stack each, and their callchains.
constexpr std::size_t kHitRingBytes = std::size_t{4} << 20U;
constexpr std::uint64_t kNever = std::uint64_t{1} << 40U;
constexpr std::size_t kStackBytes = 16384;  // more than a sample copies

// 0: no memory.
double ns_of_a_fault() {
  const std::size_t page = page_size_bytes();
  const auto memory = Mapping::map({.size_bytes = kFaults * page,
                                    .prot = PROT_READ | PROT_WRITE,
                                    .flags = MAP_PRIVATE | MAP_ANONYMOUS});
  if (!memory.ok()) {
    return 0;
  }
  const std::span<std::byte> bytes = memory.value().bytes();
  (void)::madvise(bytes.data(), bytes.size(), MADV_NOHUGEPAGE);
  auto* first = reinterpret_cast<volatile char*>(bytes.data());
  const std::uint64_t start_ns = monotonic_ns();
  for (std::size_t at = 0; at < bytes.size(); at += page) {
    first[at] = 1;
  }
  return static_cast<double>(monotonic_ns() - start_ns) / static_cast<double>(kFaults);
}

// With what a program has on its stack: a sample copies no more than there is.
double fastest_fault_ns(RingBuffer* ring) {
  std::array<volatile char, kStackBytes> stack{};
  stack[0] = 1;
  double fastest = ns_of_a_fault();
  for (std::size_t round = 1; round < kRounds; ++round) {
    if (ring != nullptr) {
      ring->consume(ring->unread_bytes());
    }
    fastest = std::min(fastest, ns_of_a_fault());
  }
  return fastest;
}

Result<double> fault_ns_with(perf_event_attr attr, std::uint64_t period, bool is_recorded) {
  attr.sample_period = period;
  const auto event = EventFd::open(attr, {.tid = 0, .cpu = -1}, "calibration");
  if (!event.ok()) {
    return event.error();
  }
  std::optional<RingBuffer> ring;
  if (is_recorded) {
    auto mapped = RingBuffer::map(event.value(), kHitRingBytes);
    if (!mapped.ok()) {
      return mapped.take_error();
    }
    ring.emplace(mapped.take());
  }
  TRY(event.value().enable());
  const double ns = fastest_fault_ns(ring ? &*ring : nullptr);
  TRY(event.value().disable());
  return ns;
}

}  // namespace

Result<HitCost> measure_hit_cost(perf_event_attr attr) {
  attr.inherit = 0;
  attr.enable_on_exec = 0;
  const double bare = fastest_fault_ns(nullptr);
  const auto counted = fault_ns_with(attr, kNever, false);
  const auto recorded = fault_ns_with(attr, 1, true);
  if (!counted.ok() || !recorded.ok()) {
    return counted.ok() ? recorded.error() : counted.error();
  }
  if (bare <= 0) {
    return Error{"measuring a page fault", ENOMEM, ""};
  }
  // Never nothing: both differences may drown in the noise of a busy machine.
  constexpr double kLeastCounted = 20;
  constexpr double kLeastRecorded = 200;
  return HitCost{.counted_ns = std::max(counted.value() - bare, kLeastCounted),
                 .recorded_ns = std::max(recorded.value() - bare, kLeastRecorded)};
}

perf_event_attr as_page_faults(perf_event_attr attr) {
  for (const char* tracefs : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const auto text = read_file(std::string(tracefs) + "/events/kmem/mm_page_alloc/id");
    const auto id =
        text.ok() ? parse_number(text.value().substr(0, text.value().find('\n'))) : std::nullopt;
    if (id && attr.type == PERF_TYPE_TRACEPOINT) {
      attr.config = *id;
      return attr;
    }
  }
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_type &= ~static_cast<std::uint64_t>(PERF_SAMPLE_RAW);
  return attr;
}

}  // namespace memtrace
