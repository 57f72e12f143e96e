// Bytes of one PERF_RECORD_SAMPLE to a Sample. Field order: include/uapi/linux/perf_event.h.
#include <bit>

#include "base/byte_reader.h"
#include "perf/record_bytes.h"
#include "perf/sample_layout.h"

namespace memtrace {
namespace {

// Newer than the oldest headers that memtrace is built with.
constexpr std::uint64_t kFormatLost = 1U << 4;       // PERF_FORMAT_LOST, Linux 6.0
constexpr std::uint64_t kBranchHwIndex = 1U << 17;   // PERF_SAMPLE_BRANCH_HW_INDEX, 5.7
constexpr std::uint64_t kBranchCounters = 1U << 19;  // PERF_SAMPLE_BRANCH_COUNTERS, 6.8
constexpr std::size_t kBranchEntryBytes = 24;

std::span<const std::uint64_t> words(ByteReader& reader, std::uint64_t count) {
  if (count > reader.remaining() / kWord) {
    reader.skip(reader.remaining() + 1);
    return {};
  }
  const Bytes bytes = reader.take(count * kWord);
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()), bytes.size() / kWord};
}

void skip_read(ByteReader& reader, std::uint64_t format) {
  const auto has = [format](std::uint64_t bits) {
    return static_cast<std::uint64_t>(std::popcount(format & bits));
  };
  const std::uint64_t times = has(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
  const std::uint64_t each = 1 + has(PERF_FORMAT_ID | kFormatLost);
  if ((format & PERF_FORMAT_GROUP) == 0) {
    words(reader, times + each);
    return;
  }
  const auto count = reader.read<std::uint64_t>();
  words(reader, times);
  words(reader, count > reader.remaining() ? ~0ULL : count * each);
}

void skip_branches(ByteReader& reader, std::uint64_t branch_sample_type) {
  const auto count = reader.read<std::uint64_t>();
  if ((branch_sample_type & kBranchHwIndex) != 0) {
    reader.skip(kWord);
  }
  const std::size_t counter_bytes = (branch_sample_type & kBranchCounters) != 0 ? kWord : 0;
  const bool fits = count <= reader.remaining() / kBranchEntryBytes;
  reader.skip(fits ? count * (kBranchEntryBytes + counter_bytes) : reader.remaining() + 1);
}

UserRegisters read_registers(ByteReader& reader, std::uint64_t mask) {
  UserRegisters registers{.abi = reader.read<std::uint64_t>(), .mask = mask, .values = {}};
  if (registers.abi != 0) {
    registers.values = words(reader, static_cast<std::uint64_t>(std::popcount(mask)));
  }
  return registers;
}

Bytes read_user_stack(ByteReader& reader) {
  const auto size_bytes = reader.read<std::uint64_t>();
  if (size_bytes == 0) {
    return {};
  }
  const Bytes stack = reader.take(size_bytes);
  const auto used_bytes = reader.read<std::uint64_t>();
  return stack.first(std::min<std::uint64_t>(used_bytes, stack.size()));
}

// Fields with one fixed place, up to PERIOD.
void read_fixed(ByteReader& reader, const SampleLayout& layout, Stamp& stamp, Sample& sample) {
  const auto has = [&layout](std::uint64_t bit) { return (layout.sample_type & bit) != 0; };
  const auto word = [&reader, &has](std::uint64_t bit, std::uint64_t otherwise) {
    return has(bit) ? reader.read<std::uint64_t>() : otherwise;
  };
  word(PERF_SAMPLE_IDENTIFIER, 0);
  sample.ip = word(PERF_SAMPLE_IP, 0);
  if (has(PERF_SAMPLE_TID)) {
    sample.pid = reader.read<std::uint32_t>();
    sample.tid = reader.read<std::uint32_t>();
  }
  stamp.time_ns = known_time(word(PERF_SAMPLE_TIME, 0));
  sample.address = word(PERF_SAMPLE_ADDR, 0);
  word(PERF_SAMPLE_ID, 0);
  word(PERF_SAMPLE_STREAM_ID, 0);
  stamp.cpu = static_cast<std::uint32_t>(word(PERF_SAMPLE_CPU, 0));  // the upper half is reserved
  sample.period = word(PERF_SAMPLE_PERIOD, layout.period);
}

// Fields whose size is in the record. What follows STACK_USER is of no use to memtrace, and padding
// may follow it all: nothing here asks for the record's exact end.
void read_sized(ByteReader& reader, const SampleLayout& layout, Sample& sample) {
  const auto has = [&layout](std::uint64_t bit) { return (layout.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_READ)) {
    skip_read(reader, layout.read_format);
  }
  if (has(PERF_SAMPLE_CALLCHAIN)) {
    const auto count = reader.read<std::uint64_t>();
    sample.callchain = words(reader, count);
  }
  if (has(PERF_SAMPLE_RAW)) {
    const auto size_bytes = reader.read<std::uint32_t>();
    sample.raw = reader.take(size_bytes);
    // The kernel sizes the data so that what follows is aligned again.
    reader.skip(padded_to_8(reader.position()) - reader.position());
  }
  if (has(PERF_SAMPLE_BRANCH_STACK)) {
    skip_branches(reader, layout.branch_sample_type);
  }
  if (has(PERF_SAMPLE_REGS_USER)) {
    sample.registers = read_registers(reader, layout.registers_user);
  }
  if (has(PERF_SAMPLE_STACK_USER)) {
    sample.user_stack = read_user_stack(reader);
  }
}

}  // namespace

Result<Record> RecordParser::parse_sample(Bytes bytes) const {
  const Event* event = find(bytes, true);
  if (event == nullptr) {
    return malformed("sample of an event that was not described", PERF_RECORD_SAMPLE);
  }
  return parse_sample_of(*event, bytes);
}

Result<Record> RecordParser::parse_sample_of(const Event& event, Bytes bytes) const {
  // Filled where it will be returned: a Record is 200 bytes, and this runs for every sample.
  Result<Record> result(Record{.stamp = {}, .payload = Sample{}, .bytes = bytes});
  Record& record = result.value();
  Sample& sample = *std::get_if<Sample>(&record.payload);
  sample.event = static_cast<std::uint32_t>(&event - events_.data());
  sample.mode = mode_of(header_of(bytes).misc);
  ByteReader reader(bytes);
  reader.skip(sizeof(RecordHeader));
  read_fixed(reader, event.layout, record.stamp, sample);
  read_sized(reader, event.layout, sample);
  if (reader.failed()) {
    result = malformed("sample is shorter than its fields", PERF_RECORD_SAMPLE);
  }
  return result;
}

}  // namespace memtrace
