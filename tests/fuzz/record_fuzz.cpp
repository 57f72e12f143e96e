// One record of the kernel's, of events whose descriptions are made up, too.
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "perf/record/record_parser.h"
#include "unwind/sampled_registers.h"

namespace memtrace::fuzz {
namespace {

constexpr std::size_t kEvents = 2;
constexpr std::size_t kWordBytes = 8;

SampleLayout layout_of(Choices& choices) {
  SampleLayout layout;
  layout.sample_type = choices.take<std::uint64_t>();
  layout.read_format = choices.take<std::uint64_t>();
  layout.registers_user = choices.take<std::uint64_t>();
  layout.registers_intr = choices.take<std::uint64_t>();
  layout.branch_sample_type = choices.take<std::uint64_t>();
  const auto flags = choices.take<std::uint64_t>();
  layout.sample_id_all = (flags & 1U) != 0;
  layout.build_ids = (flags & 2U) != 0;
  return layout;
}

// All that a record refers to is in it.
template <typename T>
void read_all(std::span<const T> values) {
  std::uint64_t sum = 0;
  for (const T& value : values) {
    sum += static_cast<std::uint64_t>(value);
  }
  [[maybe_unused]] volatile std::uint64_t is_read = sum;
}

void read_all(std::string_view text) {
  read_all(std::as_bytes(std::span(text)));
}

void read_all(const Record& record) {
  read_all(record.bytes);
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    read_all(sample->callchain);
    read_all(sample->raw);
    read_all(sample->registers.values);
    read_all(sample->user_stack);
    static_cast<void>(registers_of(*sample));
  } else if (const auto* mmap = std::get_if<Mmap>(&record.payload)) {
    read_all(mmap->build_id);
    read_all(mmap->path);
  } else if (const auto* comm = std::get_if<Comm>(&record.payload)) {
    read_all(comm->name);
  }
}

}  // namespace

void fuzz_record(Input input) {
  Choices choices(input);
  RecordParser parser;
  for (std::uint64_t id = 1; id <= kEvents; ++id) {
    parser.add_event(layout_of(choices), {&id, 1});
  }
  // The code that cuts a file or a ring into records has checked their sizes.
  const std::size_t size_bytes =
      std::min<std::size_t>(choices.rest().size() / kWordBytes * kWordBytes, UINT16_MAX & ~7U);
  if (size_bytes < sizeof(perf_event_header)) {
    return;
  }
  std::vector<std::uint64_t> words(size_bytes / kWordBytes);
  const auto bytes = std::as_writable_bytes(std::span(words));
  std::ranges::copy(choices.rest().first(size_bytes), bytes.begin());
  perf_event_header header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.size = static_cast<std::uint16_t>(size_bytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  static_cast<void>(parser.time_ns(bytes));
  static_cast<void>(parser.has_build_id(bytes));
  const auto record = parser.parse(bytes);
  if (record.ok()) {
    read_all(record.value());
  }
}

}  // namespace memtrace::fuzz
