// Field order: include/uapi/linux/perf_event.h.
#include "perf/record/sample_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "perf/record/perf_event_compat.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

// Newer than the oldest headers that memtrace is built with.
constexpr std::uint64_t kBranchHwIndex = 1U << 17;   // PERF_SAMPLE_BRANCH_HW_INDEX, 5.7
constexpr std::uint64_t kBranchCounters = 1U << 19;  // PERF_SAMPLE_BRANCH_COUNTERS, 6.8
constexpr std::uint64_t kBranchEntryWords = 3;
constexpr std::uint64_t kSampleWeights = 1U << 14 | 1U << 24;  // WEIGHT, or WEIGHT_STRUCT of 5.12

// A sample is made of 64-bit words. Like base's ByteReader it yields zeros once a read was too
// long; it is passed by value, so that it stays in registers: this runs for every sample.
struct Words {
  const std::uint64_t* at = nullptr;
  const std::uint64_t* end = nullptr;
  bool failed = false;

  std::uint64_t left() const { return static_cast<std::uint64_t>(end - at); }

  std::uint64_t next() {
    if (at == end) {
      failed = true;
      return 0;
    }
    return *at++;
  }

  std::span<const std::uint64_t> take(std::uint64_t count) {
    if (count > left()) {
      failed = true;
      at = end;
      return {};
    }
    at += count;
    return {at - count, count};
  }
};

Words words_of(Bytes record) {
  const auto* start = reinterpret_cast<const std::uint64_t*>(record.data());
  return {start + 1, start + record.size() / kWord};
}

Words skip_read(Words words, std::uint64_t format) {
  const auto has = [format](std::uint64_t bits) {
    return static_cast<std::uint64_t>(std::popcount(format & bits));
  };
  const std::uint64_t times = has(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
  const std::uint64_t each = 1 + has(PERF_FORMAT_ID | kReadFormatLost);
  if ((format & PERF_FORMAT_GROUP) == 0) {
    words.take(times + each);
    return words;
  }
  const std::uint64_t count = std::min(words.next(), words.left() + 1);
  words.take(times + count * each);
  return words;
}

Words skip_branches(Words words, std::uint64_t branch_sample_type) {
  const std::uint64_t count = std::min(words.next(), words.left() + 1);
  const std::uint64_t index_words = (branch_sample_type & kBranchHwIndex) != 0 ? 1 : 0;
  const std::uint64_t counter_words = (branch_sample_type & kBranchCounters) != 0 ? 1 : 0;
  words.take(index_words + count * (kBranchEntryWords + counter_words));
  return words;
}

// {u32 size, data}: the kernel sizes the data so that the next field is aligned again, but older
// recorders may leave a few bytes to the next word.
inline Words read_raw(Words words, Bytes& raw) {
  if (words.at == words.end) {
    words.failed = true;
    return words;
  }
  std::uint32_t size_bytes = 0;
  const auto* start = reinterpret_cast<const std::byte*>(words.at);
  std::memcpy(&size_bytes, start, sizeof(size_bytes));
  words.take((sizeof(size_bytes) + std::uint64_t{size_bytes} + kWord - 1) / kWord);
  if (!words.failed) {
    raw = {start + sizeof(size_bytes), size_bytes};
  }
  return words;
}

Words read_registers(Words words, std::uint64_t mask, UserRegisters& registers) {
  registers.abi = words.next();
  registers.mask = mask;
  if (registers.abi != 0) {
    registers.values = words.take(static_cast<std::uint64_t>(std::popcount(mask)));
  }
  return words;
}

Words read_user_stack(Words words, Bytes& stack) {
  const std::uint64_t size_bytes = words.next();
  if (size_bytes == 0) {
    return words;
  }
  const auto bytes = std::as_bytes(words.take(size_bytes / kWord));
  const std::uint64_t used_bytes = words.next();
  stack = bytes.first(std::min<std::uint64_t>(used_bytes, bytes.size()));
  return words;
}

// Fields with one fixed place, up to PERIOD.
inline Words read_fixed(Words words, const SampleLayout& layout, Record& record, Sample& sample) {
  const auto has = [&layout](std::uint64_t bit) { return (layout.sample_type & bit) != 0; };
  const auto word = [&words, &has](std::uint64_t bit, std::uint64_t otherwise) {
    return has(bit) ? words.next() : otherwise;
  };
  word(PERF_SAMPLE_IDENTIFIER, 0);
  sample.ip = word(PERF_SAMPLE_IP, 0);
  const std::uint64_t task = word(PERF_SAMPLE_TID, 0);  // {u32 pid, u32 tid}
  sample.pid = static_cast<std::uint32_t>(task);
  sample.tid = static_cast<std::uint32_t>(task >> 32);
  record.stamp.time_ns = known_time(word(PERF_SAMPLE_TIME, 0));
  sample.address = word(PERF_SAMPLE_ADDR, 0);
  word(PERF_SAMPLE_ID, 0);
  word(PERF_SAMPLE_STREAM_ID, 0);
  // The upper half is reserved.
  record.stamp.cpu = static_cast<std::uint32_t>(word(PERF_SAMPLE_CPU, 0));
  sample.period = word(PERF_SAMPLE_PERIOD, layout.period);
  return words;
}

// What comes behind STACK_USER: most of it only to be skipped.
Words read_last(Words words, const SampleLayout& layout, Sample& sample) {
  const auto has = [&layout](std::uint64_t bits) { return (layout.sample_type & bits) != 0; };
  if (!has(kSamplePhysicalAddress)) {
    return words;
  }
  words.take(has(kSampleWeights) ? 1 : 0);
  words.take(has(PERF_SAMPLE_DATA_SRC) ? 1 : 0);
  words.take(has(PERF_SAMPLE_TRANSACTION) ? 1 : 0);
  if (has(PERF_SAMPLE_REGS_INTR)) {
    UserRegisters unused;
    words = read_registers(words, layout.registers_intr, unused);
  }
  sample.physical_address = words.next();
  sample.has_physical_address = true;
  return words;
}

// Fields whose size is in the record. Padding may follow it all: nothing here asks for the record's
// exact end.
inline Words read_sized(Words words, const SampleLayout& layout, Sample& sample) {
  const auto has = [&layout](std::uint64_t bit) { return (layout.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_READ)) {
    words = skip_read(words, layout.read_format);
  }
  if (has(PERF_SAMPLE_CALLCHAIN)) {
    const std::uint64_t count = words.next();
    sample.callchain = words.take(count);
  }
  if (has(PERF_SAMPLE_RAW)) {
    words = read_raw(words, sample.raw);
  }
  if (has(PERF_SAMPLE_BRANCH_STACK)) {
    words = skip_branches(words, layout.branch_sample_type);
  }
  if (has(PERF_SAMPLE_REGS_USER)) {
    words = read_registers(words, layout.registers_user, sample.registers);
  }
  if (has(PERF_SAMPLE_STACK_USER)) {
    words = read_user_stack(words, sample.user_stack);
  }
  return read_last(words, layout, sample);
}

// False: there is no such number.
bool find_shared(const SharedNumbers& shared, Sample& sample) {
  std::uint32_t number = 0;
  if (shared.offset + sizeof(number) > sample.raw.size()) {
    return false;
  }
  std::memcpy(&number, sample.raw.data() + shared.offset, sizeof(number));
  const auto event = shared.events.find(number);
  sample.event = event == shared.events.end() ? sample.event : event->second;
  return event != shared.events.end();
}

}  // namespace

Result<Record> SampleParser::parse(Bytes bytes) const {
  // Filled where it will be returned: a Record is 200 bytes.
  Result<Record> result(Record{.stamp = {}, .payload = Sample{}, .bytes = bytes});
  Record& record = result.value();
  Sample& sample = *std::get_if<Sample>(&record.payload);
  sample.event = event_;
  sample.mode = mode_of(header_of(bytes).misc);
  const Words after_fixed = read_fixed(words_of(bytes), layout_, record, sample);
  if (read_sized(after_fixed, layout_, sample).failed) {
    result = malformed("sample is shorter than its fields", PERF_RECORD_SAMPLE);
  } else if (shared_ && !find_shared(*shared_, sample)) {
    result = malformed("sample of a probe that was not described", PERF_RECORD_SAMPLE);
  }
  return result;
}

}  // namespace memtrace
