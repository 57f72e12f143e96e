#include "decode/probe_samples.h"

#include <cstring>
#include <span>
#include <variant>

#include "perf/event/event_attr.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kSizeOffset = 6;  // of perf_event_header::size
constexpr std::size_t kCommonBytes = 8;

std::size_t offset_in(Bytes record, const void* place) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(place) - record.data());
}

// The PMU's own raw data is a tracepoint's without arguments: its common fields, then the probe's
// ip, or the function's and the ip returned to.
std::vector<std::byte> made_up_raw(const Sample& sample,
                                   std::uint16_t id,
                                   std::size_t place_count,
                                   std::span<const RegisterArgument> arguments) {
  std::vector<std::uint64_t> places(place_count);
  if (sample.raw.size() < kCommonBytes + places.size() * kWordBytes) {
    return {};
  }
  std::memcpy(places.data(), sample.raw.data() + kCommonBytes, places.size() * kWordBytes);
  return synthesize_raw({.id = id, .pid = static_cast<std::int32_t>(sample.tid)},
                        places,
                        arguments,
                        {.mask = sample.registers.mask, .values = sample.registers.values});
}

std::uint64_t value_of(std::string_view field,
                       std::span<const RegisterArgument> arguments,
                       Bytes raw,
                       std::size_t offset) {
  std::uint64_t value = 0;
  for (const RegisterArgument& argument : arguments) {
    if (argument.name == field && offset + argument.size_bytes <= raw.size()) {
      std::memcpy(&value, raw.data() + offset, argument.size_bytes);  // little-endian
    }
    offset += argument.size_bytes;
  }
  return value;
}

// The fields of made_up_raw() that a filter compares.
std::vector<std::uint64_t> values_of(const FilterExpression& filter,
                                     std::span<const RegisterArgument> arguments,
                                     Bytes raw,
                                     std::size_t first_offset) {
  std::vector<std::uint64_t> values;
  values.reserve(filter.fields().size());
  for (const std::string& field : filter.fields()) {
    values.push_back(value_of(field, arguments, raw, first_offset));
  }
  return values;
}

// A span of the old record at its place in the new one, which is `shift` bytes further on.
template <typename T>
std::span<const T> moved_span(std::span<const T> old, Bytes from, Bytes to, std::size_t shift) {
  if (old.data() == nullptr) {
    return {};
  }
  const std::size_t offset = offset_in(from, old.data()) + shift;
  return {reinterpret_cast<const T*>(to.data() + offset), old.size()};
}

// What follows the raw data was moved by `shift`, or left out.
Record in_new_bytes(const Record& record, Bytes bytes, bool has_tail, std::size_t shift) {
  Record moved{.stamp = record.stamp, .payload = record.payload, .bytes = bytes};
  auto& sample = std::get<Sample>(moved.payload);
  sample.callchain = moved_span(sample.callchain, record.bytes, bytes, 0);
  if (!has_tail) {
    sample.registers = {};
    sample.user_stack = {};
    return moved;
  }
  sample.user_stack = moved_span(sample.user_stack, record.bytes, bytes, shift);
  sample.registers.values = moved_span(sample.registers.values, record.bytes, bytes, shift);
  return moved;
}

}  // namespace

void ProbeSamples::learn() {
  while (probes_.size() < events_.size()) {
    const OpenedEvent& event = events_[probes_.size()];
    Probe& probe = probes_.emplace_back();
    probe.for_all_tasks = event.for_all_tasks;
    if (event.request.filter_children) {
      probe.filter_of_children = SampleFilter::of(event.request);
    }
    is_idle_ =
        is_idle_ && !event.for_all_tasks && !event.request.pmu_probe && !probe.filter_of_children;
    if (!event.request.pmu_probe) {
      continue;
    }
    auto arguments = parse_register_arguments(event.request.pmu_probe->arguments);
    probe.by_pmu = arguments.ok();  // they were parsed before
    probe.has_user_stack = (event.attr.sample_type & PERF_SAMPLE_STACK_USER) != 0;
    probe.id = static_cast<std::uint16_t>(event.request.info.config);
    probe.place_count =
        event.request.info.format.find("__probe_ret_ip") == std::string::npos ? 1 : 2;
    // The kernel cannot test fields that it did not fetch.
    if (auto filter = FilterExpression::parse(event.request.filter); filter.ok()) {
      probe.filter.emplace(filter.take());
    }
    probe.arguments = arguments.ok() ? arguments.take() : std::vector<RegisterArgument>();
  }
}

std::optional<Record> ProbeSamples::complete(const Record& record) {
  const auto* sample = std::get_if<Sample>(&record.payload);
  if (sample == nullptr) {
    note_process(record);
    return record;
  }
  if (sample->event >= probes_.size()) {
    learn();
  }
  if (is_idle_ || sample->event >= probes_.size()) {
    return record;
  }
  const Probe& probe = probes_[sample->event];
  if (probe.for_all_tasks && !watched_.contains(sample->pid)) {
    return std::nullopt;
  }
  if (probe.filter_of_children && !probe.filter_of_children->accepts(sample->raw)) {
    return std::nullopt;
  }
  return probe.by_pmu ? with_arguments(record, probe) : std::optional(record);
}

void ProbeSamples::note_process(const Record& record) {
  if (const auto* comm = std::get_if<Comm>(&record.payload)) {
    watched_.insert(comm->pid);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    watched_.insert(fork->pid);
  }
}

//   head, callchain | size, raw      | registers, stack
//   head, callchain | size, new raw  | registers, stack    the latter only for who unwinds it
std::optional<Record> ProbeSamples::with_arguments(const Record& record, const Probe& probe) {
  const auto& sample = std::get<Sample>(record.payload);
  auto raw = made_up_raw(sample, probe.id, probe.place_count, probe.arguments);
  if (raw.empty()) {
    raw.assign(sample.raw.begin(), sample.raw.end());  // too short for its fields: counted as such
  } else if (probe.filter &&
             !probe.filter->accepts(values_of(*probe.filter,
                                              probe.arguments,
                                              raw,
                                              kCommonBytes + probe.place_count * kWordBytes))) {
    return std::nullopt;
  }
  std::uint32_t raw_bytes = 0;
  const std::size_t head_bytes = offset_in(record.bytes, sample.raw.data()) - sizeof(raw_bytes);
  const std::size_t old_end = head_bytes + sizeof(raw_bytes) + sample.raw.size();
  // The kernel pads raw data so that what follows is aligned.
  raw.resize((raw.size() + sizeof(raw_bytes) + kWordBytes - 1) / kWordBytes * kWordBytes -
             sizeof(raw_bytes));
  raw_bytes = static_cast<std::uint32_t>(raw.size());
  const std::size_t new_end = head_bytes + sizeof(raw_bytes) + raw.size();
  const Bytes tail = probe.has_user_stack ? record.bytes.subspan(old_end) : Bytes();
  words_.assign((new_end + tail.size()) / kWordBytes, 0);
  const auto out = std::as_writable_bytes(std::span(words_));
  std::memcpy(out.data(), record.bytes.data(), head_bytes);
  std::memcpy(out.data() + head_bytes, &raw_bytes, sizeof(raw_bytes));
  std::memcpy(out.data() + head_bytes + sizeof(raw_bytes), raw.data(), raw.size());
  if (!tail.empty()) {
    std::memcpy(out.data() + new_end, tail.data(), tail.size());
  }
  const auto size_bytes = static_cast<std::uint16_t>(out.size());
  std::memcpy(out.data() + kSizeOffset, &size_bytes, sizeof(size_bytes));
  // The shift may wrap around zero, and back again.
  Record completed = in_new_bytes(record, out, probe.has_user_stack, new_end - old_end);
  std::get<Sample>(completed.payload).raw =
      Bytes(out).subspan(head_bytes + sizeof(raw_bytes), raw.size());
  return completed;
}

}  // namespace memtrace
