#include "perf/record/sample_layout.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "perf/record/perf_event_compat.h"

namespace memtrace {
namespace {

// <linux/perf_event.h> of older machines does not name the bit.
bool asks_for_build_ids(const perf_event_attr& attr) {
  std::uint64_t flags = 0;
  constexpr std::size_t kPlace = offsetof(perf_event_attr, wakeup_events) - sizeof(flags);
  std::memcpy(&flags, reinterpret_cast<const std::byte*>(&attr) + kPlace, sizeof(flags));
  return (flags & kAttrBuildId) != 0;
}

}  // namespace

SampleLayout SampleLayout::of(const perf_event_attr& attr) {
  return {.sample_type = attr.sample_type,
          .read_format = attr.read_format,
          .registers_user = attr.sample_regs_user,
          .registers_intr = attr.sample_regs_intr,
          .branch_sample_type = attr.branch_sample_type,
          .period = attr.freq ? 0 : attr.sample_period,
          .sample_id_all = attr.sample_id_all != 0,
          .build_ids = asks_for_build_ids(attr)};
}

// Order of the fields in both places: kernel/events/core.c, perf_output_sample() and
// __perf_event__output_id_sample().
StampPlaces StampPlaces::of(const SampleLayout& layout) {
  constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  const std::uint64_t type = layout.sample_type;
  // How many of `fields` are there before a place.
  const auto words = [type](std::uint64_t fields) {
    return static_cast<std::size_t>(std::popcount(type & fields)) * kWordBytes;
  };
  constexpr std::uint64_t kBeforeTime = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  constexpr std::uint64_t kBeforeId = kBeforeTime | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  constexpr std::uint64_t kFromId =
      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  StampPlaces places;
  if ((type & PERF_SAMPLE_TIME) != 0) {
    places.sample_time = kWordBytes + words(kBeforeTime);
    places.trailer_time = words(kFromId | PERF_SAMPLE_TIME);
  }
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) {
    places.sample_id = kWordBytes;
    places.trailer_id = kWordBytes;
  } else if ((type & PERF_SAMPLE_ID) != 0) {
    places.sample_id = kWordBytes + words(kBeforeId);
    places.trailer_id = words(kFromId);
  }
  if (!layout.sample_id_all) {
    places.trailer_time = 0;
    places.trailer_id = 0;
    return places;
  }
  places.trailer_size_bytes = words(kFromId | PERF_SAMPLE_TIME | PERF_SAMPLE_TID);
  return places;
}

}  // namespace memtrace
