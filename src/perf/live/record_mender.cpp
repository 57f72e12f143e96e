#include "perf/live/record_mender.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "perf/event/event_attr.h"
#include "perf/event/event_set.h"
#include "perf/record/perf_event_compat.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kBeforeStream = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                        PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID;
constexpr std::uint64_t kFixedFields =
    kBeforeStream | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

// Raw data of an event that has none: {u32 size = 4, u32 0}, kernel/events/core.c,
// perf_output_sample().
constexpr std::uint64_t kEmptyRaw = 4;

// perf_event_attr's types that have a list of events for each CPU: the clocks' do not share.
bool is_shared(const OpenedEvent& event) {
  const std::uint64_t config = event.attr.config;
  return event.attr.type == PERF_TYPE_SOFTWARE && !event.request.info.is_tracking &&
         config != PERF_COUNT_SW_CPU_CLOCK && config != PERF_COUNT_SW_TASK_CLOCK;
}

std::size_t first_word_after_fixed(std::uint64_t sample_type) {
  return 1 + static_cast<std::size_t>(std::popcount(sample_type & kFixedFields));
}

// Past the callchain, which begins at `at`; the sample's end when it is longer than that.
std::size_t after_chain(std::span<const std::uint64_t> sample,
                        std::uint64_t sample_type,
                        std::size_t at) {
  if ((sample_type & PERF_SAMPLE_CALLCHAIN) == 0 || at >= sample.size()) {
    return std::min(at, sample.size());
  }
  return at + 1 + std::min<std::uint64_t>(sample[at], sample.size() - at - 1);
}

bool has_stream(std::uint64_t sample_type) {
  return (sample_type & PERF_SAMPLE_STREAM_ID) != 0;
}

// Whether the sample has the number of a stream where others have their CPU. Such numbers are those
// of all events since the machine was started: none that is still used is as small as a CPU's.
bool has_stream_in(std::span<const std::uint64_t> sample,
                   std::uint64_t sample_type,
                   std::uint32_t cpu) {
  const std::size_t at = 1 + static_cast<std::size_t>(std::popcount(sample_type & kBeforeStream));
  return at < sample.size() && static_cast<std::uint32_t>(sample[at]) != cpu;
}

void set_size(std::span<std::uint64_t> record, std::size_t size_bytes) {
  RecordHeader header = header_of(std::as_bytes(record));
  header.size_bytes = static_cast<std::uint16_t>(size_bytes);
  std::memcpy(record.data(), &header, sizeof(header));
}

// Removes from a callchain what another recorder asked for; ours is unwound. Returns the number of
// removed words.
std::size_t cut_user_part(std::span<std::uint64_t> sample,
                          std::size_t chain,
                          std::size_t chain_end) {
  const auto first = sample.begin() + static_cast<std::ptrdiff_t>(chain) + 1;
  const auto last = sample.begin() + static_cast<std::ptrdiff_t>(chain_end);
  const auto user = std::find(first, last, kContextUser);
  const auto cut = static_cast<std::size_t>(last - user);
  std::copy(last, sample.end(), user);
  sample[chain] -= cut;
  return cut;
}

bool has_empty_raw(std::span<const std::uint64_t> sample, std::uint64_t sample_type) {
  const std::size_t raw = after_chain(sample, sample_type, first_word_after_fixed(sample_type));
  return raw < sample.size() && sample[raw] == kEmptyRaw;
}

// Cuts off the end of the stack at this word where it is longer than what is left, with the word
// that says how much of it was filled. Returns the words it takes then.
std::size_t mend_stack(std::span<std::uint64_t> sample, std::size_t at) {
  const std::size_t room = sample.size() - at - 1;
  const std::uint64_t words = sample[at] / kWord;
  if (words > 0 && words + 1 > room && room > 1) {
    sample[at] = (room - 1) * kWord;
    sample[at + room] = sample[at];
  }
  return 1 + (words == 0 ? 0 : std::min<std::uint64_t>(words + 1, room));
}

}  // namespace

RecordMender::RecordMender(std::span<const OpenedEvent> events) {
  for (std::size_t number = 0; number < events.size(); ++number) {
    const OpenedEvent& event = events[number];
    const StampPlaces places = StampPlaces::of(SampleLayout::of(event.attr));
    if (is_shared(event) && !event.ids.empty() && places.sample_id != 0) {
      events_.push_back({.id = event.ids.front(),
                         .number = static_cast<std::uint32_t>(number),
                         .sample_type = event.attr.sample_type,
                         .registers = event.attr.sample_regs_user,
                         .places = places,
                         .has_user_chain = event.attr.exclude_callchain_user == 0});
    }
  }
}

bool RecordMender::is_wrong(std::span<const std::byte> record, const RecordParser& parser) const {
  const RecordHeader header = header_of(record);
  if (header.type == PERF_RECORD_SAMPLE) {
    return !events_.empty() &&
           !parser.event_of(word_at(record, events_.front().places.sample_id)).has_value();
  }
  return header.type == PERF_RECORD_MMAP2 && (header.misc & kMiscMmapBuildId) != 0 &&
         !parser.has_build_id(record);
}

// All software events of ours have time and id at the same places (see StampPlaces).
bool RecordMender::is_early(std::span<const std::byte> record,
                            const RecordParser& parser,
                            std::uint64_t newest_ns) const {
  if (events_.empty() || header_of(record).type != PERF_RECORD_SAMPLE) {
    return false;
  }
  const StampPlaces& places = events_.front().places;
  if (places.sample_time == 0 || word_at(record, places.sample_time) >= newest_ns) {
    return false;
  }
  const auto number = parser.event_of(word_at(record, places.sample_id));
  return number && std::ranges::find(events_, *number, &Shared::number) != events_.end();
}

void RecordMender::mend_early(std::span<std::uint64_t> record, Written written) const {
  mend_time(record, events_.front(), written);
}

std::size_t RecordMender::mend(std::span<std::uint64_t> record, Written written) const {
  RecordHeader header = header_of(std::as_bytes(record));
  if (header.type != PERF_RECORD_SAMPLE) {
    header.misc &= static_cast<std::uint16_t>(~kMiscMmapBuildId);
    std::memcpy(record.data(), &header, sizeof(header));
    return record.size_bytes();
  }
  const Shared* owner = owner_of(record, written.cpu);
  if (owner == nullptr) {
    return record.size_bytes();
  }
  record[owner->places.sample_id / kWord] = owner->id;
  mend_time(record, *owner, written);
  return mend_body(record, *owner);
}

// Our ring, so an event of ours: but which? They differ in what they asked for
// (perf/event/event_attr.cpp): in the place of the CPU, and the one that asked for raw data has it,
// empty.
const RecordMender::Shared* RecordMender::owner_of(std::span<const std::uint64_t> sample,
                                                   std::uint32_t cpu) const {
  const Shared* owner = nullptr;
  for (const Shared& event : events_) {
    if (has_stream(event.sample_type) != has_stream_in(sample, event.sample_type, cpu)) {
      continue;
    }
    const bool has_raw = (event.sample_type & PERF_SAMPLE_RAW) != 0;
    if (has_raw && has_empty_raw(sample, event.sample_type)) {
      return &event;
    }
    if (!has_raw && owner != nullptr) {
      return nullptr;  // it may be of either
    }
    owner = has_raw ? owner : &event;
  }
  return owner;
}

void RecordMender::mend_time(std::span<std::uint64_t> sample,
                             const Shared& owner,
                             Written written) {
  if (owner.places.sample_time == 0 || written.highest_ns == 0) {
    return;
  }
  std::uint64_t& time_ns = sample[owner.places.sample_time / kWord];
  time_ns =
      std::clamp(time_ns, std::min(written.lowest_ns, written.highest_ns), written.highest_ns);
}

//   fixed fields, {nr, callchain}, {raw}, {abi, registers}, {size, stack, used}, address, [more]
//
// The size of the record is that of what was computed for all events before this one. Where our
// registers are more than theirs, the end of our stack is cut off.
std::size_t RecordMender::mend_body(std::span<std::uint64_t> sample, const Shared& owner) {
  const auto has = [&owner](std::uint64_t bit) { return (owner.sample_type & bit) != 0; };
  std::size_t end = first_word_after_fixed(owner.sample_type);
  const std::size_t chain = end;
  end = after_chain(sample, owner.sample_type, end);
  const std::size_t chain_end = end;
  end += has(PERF_SAMPLE_RAW) ? 1 : 0;
  if (has(PERF_SAMPLE_REGS_USER) && end < sample.size()) {
    end += 1 + (sample[end] == 0 ? 0 : static_cast<std::size_t>(std::popcount(owner.registers)));
  }
  if (has(PERF_SAMPLE_STACK_USER) && end < sample.size()) {
    end += mend_stack(sample, end);
  }
  end += has(kSamplePhysicalAddress) ? 1 : 0;
  if (end > sample.size()) {
    return sample.size_bytes();  // counted as malformed
  }
  if (has(PERF_SAMPLE_CALLCHAIN) && !owner.has_user_chain) {
    end -= cut_user_part(sample.first(end), chain, chain_end);
  }
  set_size(sample, end * kWord);
  return end * kWord;
}

}  // namespace memtrace
