#include "decode/probe_samples.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "perf/record/record_parser.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kEventId = 5;
constexpr std::uint64_t kIp = 0x401000;

EventRequest request(bool stacks) {
  return {.info = {.name = "memtrace_heap_1:malloc",
                   .kind = EventKind::Tracepoint,
                   .config = 0xFFFF,
                   .format = "field:unsigned long __probe_ip;"},
          .type = 8,
          .stacks = stacks,
          .on_user_code = true,
          .pmu_probe = PmuProbe{.config = 1,
                                .path = std::make_shared<const std::string>("/lib/x"),
                                .file_offset = 64,
                                .registers = 1U << 5U,
                                .arguments = "size=%di:u64"}};
}

OpenedEvent opened(bool stacks, bool for_all_tasks) {
  OpenedEvent event{.request = request(stacks)};
  event.attr = make_attr(event.request, {.call_graph = {.stack_bytes = 16}, .inherit = true});
  event.ids = {kEventId};
  event.for_all_tasks = for_all_tasks;
  return event;
}

// As the kernel writes it for opened(): all registers are 42.
std::vector<std::uint64_t> sample_words(bool stacks, std::uint64_t registers) {
  std::vector<std::uint64_t> words = {0, kEventId, kIp, (7ULL << 32U) | 6U, 1000, 0};
  if (stacks) {
    words.insert(words.end(), {1, 0xffffffff81000000U});
  }
  constexpr std::uint64_t kRawBytes = 20;
  words.insert(words.end(), {kRawBytes, kIp << 32U, kIp >> 32U});
  words.push_back(2);  // the 64-bit ABI
  words.insert(words.end(), static_cast<std::size_t>(__builtin_popcountll(registers)), 42);
  if (stacks) {
    words.insert(words.end(), {16, 0x1111, 0x2222, 16});
  }
  words[0] = (std::uint64_t{words.size() * 8} << 48U) | PERF_RECORD_SAMPLE;
  return words;
}

struct Completed {
  explicit Completed(bool stacks) : event(opened(stacks, false)), events({event}), samples(events) {
    words = sample_words(stacks, event.attr.sample_regs_user);
    RecordParser parser;
    parser.add_event(SampleLayout::of(event.attr), event.ids);
    auto parsed = parser.parse(std::as_bytes(std::span(words)));
    EXPECT_TRUE(parsed.ok());
    record = samples.complete(parsed.value());
  }

  const Sample& sample() const { return std::get<Sample>(record->payload); }

  OpenedEvent event;
  std::vector<OpenedEvent> events;
  ProbeSamples samples;
  std::vector<std::uint64_t> words;
  std::optional<Record> record;
};

std::uint64_t word_of(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

TEST(ProbeSamples, arguments_are_put_into_the_raw_data) {
  const Completed completed(false);
  ASSERT_TRUE(completed.record);
  const auto raw = completed.sample().raw;
  ASSERT_EQ(raw.size(), 28U);  // padded, as the kernel does
  EXPECT_EQ(word_of(raw, 0), (std::uint64_t{7} << 32U) | 0xFFFFU);
  EXPECT_EQ(word_of(raw, 8), kIp);
  EXPECT_EQ(word_of(raw, 16), 42U);
}

TEST(ProbeSamples, what_goes_into_the_file_is_read_back_by_its_attr) {
  const Completed completed(false);
  ASSERT_TRUE(completed.record);
  EXPECT_EQ(completed.sample().registers.mask, 0U);
  const perf_event_attr attr = file_attr(completed.event.attr, completed.event.request);
  EXPECT_EQ(attr.type, std::uint32_t{PERF_TYPE_TRACEPOINT});
  EXPECT_EQ(attr.config, 0xFFFFU);
  EXPECT_EQ(attr.config1, 0U);
  RecordParser parser;
  parser.add_event(SampleLayout::of(attr), completed.event.ids);
  const auto again = parser.parse(completed.record->bytes);
  ASSERT_TRUE(again.ok());
  const auto& sample = std::get<Sample>(again.value().payload);
  ASSERT_EQ(sample.raw.size(), 28U);
  EXPECT_EQ(word_of(sample.raw, 16), 42U);
}

TEST(ProbeSamples, stack_and_registers_stay_for_the_unwinder) {
  const Completed completed(true);
  ASSERT_TRUE(completed.record);
  const Sample& sample = completed.sample();
  ASSERT_EQ(sample.callchain.size(), 1U);
  EXPECT_EQ(sample.callchain[0], 0xffffffff81000000U);
  EXPECT_EQ(sample.registers.values.front(), 42U);
  ASSERT_EQ(sample.user_stack.size(), 16U);
  EXPECT_EQ(word_of(sample.user_stack, 8), 0x2222U);
}

TEST(ProbeSamples, probe_for_all_tasks_keeps_the_watched_processes) {
  const OpenedEvent event = opened(false, true);
  const std::vector<OpenedEvent> events = {event};
  ProbeSamples samples(events);
  const auto words = sample_words(false, event.attr.sample_regs_user);
  RecordParser parser;
  parser.add_event(SampleLayout::of(event.attr), event.ids);
  const auto parsed = parser.parse(std::as_bytes(std::span(words)));
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(samples.complete(parsed.value()));
  EXPECT_TRUE(samples.complete({.payload = Fork{.pid = 6, .parent_pid = 1, .tid = 6}}));
  EXPECT_TRUE(samples.complete(parsed.value()));
}

TEST(ProbeSamples, events_that_come_later_are_for_watched_processes_too) {
  std::vector<OpenedEvent> events = {opened(false, false)};
  events.front().request.pmu_probe.reset();
  ProbeSamples samples(events);
  EXPECT_TRUE(samples.complete({.payload = Sample{.event = 0, .pid = 6}}));
  EXPECT_TRUE(samples.complete({.payload = Comm{.pid = 7, .tid = 7}}));
  events.push_back(events.front());
  events.back().for_all_tasks = true;
  EXPECT_FALSE(samples.complete({.payload = Sample{.event = 1, .pid = 6}}));
  EXPECT_TRUE(samples.complete({.payload = Sample{.event = 1, .pid = 7}}));
  EXPECT_TRUE(samples.complete({.payload = Sample{.event = 0, .pid = 6}}));
}

TEST(ProbeSamples, samples_that_a_filter_refuses_are_left_out) {
  std::vector<OpenedEvent> events = {opened(false, false)};
  const auto words = sample_words(false, events.front().attr.sample_regs_user);
  RecordParser parser;
  parser.add_event(SampleLayout::of(events.front().attr), events.front().ids);
  const auto parsed = parser.parse(std::as_bytes(std::span(words)));
  ASSERT_TRUE(parsed.ok());
  for (const char* filter : {"size == 42", "size < 42", ""}) {
    events.front().request.filter = filter;
    ProbeSamples samples(events);
    EXPECT_EQ(samples.complete(parsed.value()).has_value(), filter != std::string("size < 42"))
        << filter;
  }
}

// As of RHEL 6, whose kernel does not filter what inherited events write.
TEST(ProbeSamples, samples_of_children_are_filtered_where_the_kernel_does_not) {
  EventRequest request{.info = {.name = "kmem:kmalloc",
                                .kind = EventKind::Tracepoint,
                                .format = "name: kmalloc\nID: 47\nformat:\n"
                                          "\tfield:size_t bytes_req;\toffset:0;\tsize:8;\t"
                                          "signed:0;\n"
                                          "\tfield:int node;\toffset:8;\tsize:4;\tsigned:1;\n"
                                          "\nprint fmt: \"\"\n"},
                       .type = kTypeTracepoint};
  std::array<std::uint64_t, 2> raw = {4096, 0xffffffffU};  // node -1
  const Record record{.payload =
                          Sample{.event = 0, .pid = 6, .raw = std::as_bytes(std::span(raw))}};
  const auto passes = [&](const char* filter, bool filter_children) {
    request.filter = filter;
    request.filter_children = filter_children;
    const std::vector<OpenedEvent> events = {{.request = request}};
    ProbeSamples samples(events);
    return samples.complete(record).has_value();
  };
  EXPECT_TRUE(passes("bytes_req == 4096", true));
  EXPECT_FALSE(passes("bytes_req < 4096", true));
  EXPECT_TRUE(passes("bytes_req < 4096", false));
  EXPECT_TRUE(passes("node < 0 && bytes_req > 1", true));
  EXPECT_FALSE(passes("node >= 0", true));
  EXPECT_TRUE(passes("comm == make", true));  // no number: a note says so
}

TEST(ProbeSamples, uprobe_pmu_events_are_never_inherited) {
  EXPECT_EQ(opened(true, true).attr.inherit, 0U);
}

}  // namespace
}  // namespace memtrace
