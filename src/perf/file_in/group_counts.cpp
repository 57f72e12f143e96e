#include "perf/file_in/group_counts.h"

#include <bit>
#include <cstring>

#include "perf/record/perf_event_compat.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

constexpr std::size_t kWordBytes = 8;

// Fields of a sample in front of READ, each of one word.
constexpr std::uint64_t kFieldsBefore = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                        PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                        PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                        PERF_SAMPLE_PERIOD;

std::uint64_t nth_word(std::span<const std::byte> record, std::size_t word) {
  std::uint64_t value = 0;
  if ((word + 1) * kWordBytes <= record.size()) {
    std::memcpy(&value, record.data() + word * kWordBytes, sizeof(value));
  }
  return value;
}

}  // namespace

bool is_counted_by_leader(const perf_event_attr& attr) {
  return (attr.sample_type & PERF_SAMPLE_READ) != 0 &&
         (attr.read_format & PERF_FORMAT_GROUP) != 0 && attr.sample_period == 0;
}

// The counters of an inherited event are each thread's own since 6.12; before, the kernel refused
// to inherit what is read in samples (kernel/events/core.c).
void GroupCounts::add_event(const perf_event_attr& attr) {
  Layout& layout = layouts_.emplace_back();
  if ((attr.sample_type & PERF_SAMPLE_READ) == 0 || (attr.read_format & PERF_FORMAT_ID) == 0) {
    return;
  }
  any_ = true;
  layout.read_format = attr.read_format;
  layout.first_word = sizeof(RecordHeader) / kWordBytes +
                      static_cast<std::size_t>(std::popcount(attr.sample_type & kFieldsBefore));
  layout.per_thread = attr.inherit != 0 && (attr.sample_type & PERF_SAMPLE_TID) != 0;
}

// A CPU's event belongs to no task, so nothing inherits it, although perf 6.12 sets the bit for it,
// too: its one counter goes on whichever thread runs.
bool GroupCounts::is_threads_own(std::uint64_t id, const Layout& layout) const {
  return layout.per_thread && !of_all_tasks_.contains(id);
}

// What the counter has gone on by. It never goes back: a lower value is an older one, of a sample
// that an interrupt's came before, or of a new thread with an old one's id.
std::uint64_t GroupCounts::advance(std::uint64_t id, const Layout& layout, const Read& read) {
  const bool own = is_threads_own(id, layout);
  std::uint64_t& before = values_[{id, own ? read.tid : 0}];
  const std::uint64_t hits = read.value > before ? read.value - before : 0;
  if (hits > 0 || own) {
    before = read.value;
  }
  return hits;
}

// {count, [times], {value, id, [lost]}...} of a group, {value, [times], id, [lost]} of one event.
const std::vector<GroupCounts::Hits>& GroupCounts::take(const Sample& sample,
                                                        std::span<const std::byte> record,
                                                        const RecordParser& parser) {
  hits_.clear();
  if (!tells(sample.event)) {
    return hits_;
  }
  const Layout& layout = layouts_[sample.event];
  const auto words = [&layout](std::uint64_t bits) {
    return static_cast<std::size_t>(std::popcount(layout.read_format & bits));
  };
  const bool is_group = (layout.read_format & PERF_FORMAT_GROUP) != 0;
  const std::size_t times = words(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
  const std::size_t last_word = record.size() / kWordBytes;
  const std::uint64_t count = is_group ? nth_word(record, layout.first_word) : 1;
  std::size_t at = layout.first_word + (is_group ? 1 + times : 0);
  for (std::uint64_t i = 0; i < count && at < last_word; ++i) {
    const std::uint64_t value = nth_word(record, at);
    const std::uint64_t id = nth_word(record, at + 1 + (is_group ? 0 : times));
    at += 2 + words(kReadFormatLost);
    const std::uint64_t hits = advance(id, layout, {.value = value, .tid = sample.tid});
    const auto event = parser.event_of(id);
    if (event && hits > 0) {
      hits_.push_back({.event = *event, .count = hits});
    }
  }
  return hits_;
}

}  // namespace memtrace
