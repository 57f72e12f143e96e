#include "perf/live/overload.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <bit>

#include "perf/event/event_attr.h"
#include "perf/record/record_builder.h"

namespace memtrace::overload_test {
namespace {

constexpr std::uint64_t kId = 5;
constexpr std::uint64_t kRawWord = 0x1122334455667788;

EventRequest tracepoint() {
  return {.info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
}

RecordParser parser() {
  RecordParser made;
  made.add_event(SampleLayout::of(make_attr(tracepoint(), {})), std::vector{kId});
  return made;
}

// IDENTIFIER, IP, TID, TIME, CPU, CALLCHAIN, RAW: the layout of make_attr().
void add_sample(std::vector<std::uint64_t>& words, const std::vector<std::uint64_t>& chain) {
  const std::size_t start = words.size();
  words.insert(words.end(), {PERF_RECORD_SAMPLE, kId, 0x1000, 0x0000000300000002, 99, 0});
  words.push_back(chain.size());
  words.insert(words.end(), chain.begin(), chain.end());
  // RAW: a 32-bit size of 12 bytes, then the bytes.
  words.insert(words.end(), {12 | (kRawWord << 32), kRawWord >> 32});
  words[start] |= ((words.size() - start) * sizeof(std::uint64_t)) << 48;
}

Chunk chunk_of(const std::vector<std::uint64_t>& words) {
  Chunk chunk;
  chunk.used_bytes = words.size() * sizeof(std::uint64_t);
  std::ranges::copy(std::as_bytes(std::span(words)), chunk.room().begin());
  return chunk;
}

std::vector<Record> records_in(Chunk& chunk, const RecordParser& parser) {
  std::vector<Record> records;
  auto bytes = chunk.bytes();
  while (!bytes.empty()) {
    perf_event_header header{};
    std::copy_n(bytes.begin(), sizeof(header), reinterpret_cast<std::byte*>(&header));
    auto record = parser.parse(bytes.first(header.size));
    EXPECT_TRUE(record.ok());
    records.push_back(record.take());
    bytes = bytes.subspan(header.size);
  }
  return records;
}

std::vector<std::uint64_t> long_chain() {
  std::vector<std::uint64_t> chain = {kContextKernel};
  for (std::uint64_t i = 0; i < 20; ++i) {
    chain.push_back(0xffffffff81000000 + i);
  }
  chain.push_back(kContextUser);
  for (std::uint64_t i = 0; i < 20; ++i) {
    chain.push_back(0x400000 + i);
  }
  return chain;
}

TEST(ShedTest, a_cut_stack_keeps_the_innermost_of_each_part_and_its_fields) {
  const RecordParser parse = parser();
  std::vector<std::uint64_t> words;
  add_sample(words, long_chain());
  add_sample(words, {kContextUser, 0x42});
  Chunk chunk = chunk_of(std::move(words));
  apply_overload(chunk, Overload::CutStacks, parse);
  EXPECT_EQ(chunk.cut_stacks, 1U);
  const auto records = records_in(chunk, parse);
  ASSERT_EQ(records.size(), 2U);
  const auto& cut = std::get<Sample>(records[0].payload);
  ASSERT_EQ(cut.callchain.size(), 2 * (kCutStackEntries + 1));
  EXPECT_EQ(cut.callchain[kCutStackEntries], 0xffffffff81000000 + kCutStackEntries - 1);
  EXPECT_EQ(cut.callchain[kCutStackEntries + 1], kContextUser);
  ASSERT_EQ(cut.raw.size(), 12U);
  EXPECT_EQ(cut.raw[0], std::byte{0x88});
  EXPECT_EQ(std::get<Sample>(records[1].payload).callchain.size(), 2U);
}

// The same with REGS_USER of a probe (all 0) and STACK_USER behind.
void add_dump(std::vector<std::uint64_t>& words, std::uint64_t stack_bytes) {
  const std::size_t start = words.size();
  add_sample(words, {});
  words.push_back(2);  // PERF_SAMPLE_REGS_ABI_64
  words.resize(words.size() + static_cast<std::size_t>(std::popcount(caller_registers())));
  words.push_back(stack_bytes);
  for (std::uint64_t i = 0; i < stack_bytes / sizeof(std::uint64_t); ++i) {
    words.push_back(i);
  }
  words.push_back(stack_bytes);
  words[start] = PERF_RECORD_SAMPLE | ((words.size() - start) * sizeof(std::uint64_t)) << 48;
}

TEST(ShedTest, a_cut_copy_of_a_stack_keeps_its_top) {
  EventRequest request = tracepoint();
  request.on_user_code = true;
  const AttrContext context{.call_graph = {.stack_bytes = 8192}};
  RecordParser parse;
  parse.add_event(SampleLayout::of(make_attr(request, context)), std::vector{kId});
  std::vector<std::uint64_t> words;
  add_dump(words, 8192);
  add_dump(words, kCutStackBytes);
  Chunk chunk = chunk_of(std::move(words));
  apply_overload(chunk, Overload::CutStacks, parse);
  EXPECT_EQ(chunk.cut_stacks, 1U);
  EXPECT_LT(chunk.used_bytes, 3 * kCutStackBytes);
  const auto records = records_in(chunk, parse);
  ASSERT_EQ(records.size(), 2U);
  for (const Record& record : records) {
    const auto& sample = std::get<Sample>(record.payload);
    ASSERT_EQ(sample.user_stack.size(), kCutStackBytes);
    EXPECT_EQ(sample.user_stack[kCutStackBytes - 8], std::byte{kCutStackBytes / 8 - 1});
    EXPECT_EQ(sample.raw.size(), 12U);
  }
}

TEST(ShedTest, dropping_samples_keeps_all_other_records) {
  const RecordParser parse = parser();
  std::vector<std::uint64_t> words;
  add_sample(words, {kContextUser, 0x42});
  RecordBuilder others(kId);
  others.comm(3, 4, "bash");
  const auto comm = others.bytes();
  const std::size_t at = words.size();
  words.resize(at + comm.size() / sizeof(std::uint64_t));
  std::copy(comm.begin(), comm.end(), reinterpret_cast<std::byte*>(&words[at]));
  add_sample(words, long_chain());
  Chunk chunk = chunk_of(std::move(words));
  apply_overload(chunk, Overload::DropSamples, parse);
  ASSERT_EQ(chunk.dropped.size(), 1U);
  EXPECT_EQ(chunk.dropped[0].count, 2U);
  const auto records = records_in(chunk, parse);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(std::get<Comm>(records[0].payload).name, "bash");
}

TEST(ShedTest, losses_are_told_by_their_times) {
  std::vector<LossSpan> spans;
  for (const std::uint64_t ms : {5U, 6U, 14U, 16U, 2000U, 2001U}) {
    add_loss(spans, ms * 1'000'000);
  }
  ASSERT_EQ(spans.size(), 3U) << "none is longer than 10 ms";
  EXPECT_EQ(spans[0].first_ns, 5'000'000U);
  EXPECT_EQ(spans[0].last_ns, 14'000'000U);
  EXPECT_EQ(spans[0].count, 3U);
  EXPECT_EQ(spans[2].first_ns, 2'000'000'000U);
  EXPECT_EQ(spans[2].count, 2U);
}

}  // namespace
}  // namespace memtrace::overload_test
