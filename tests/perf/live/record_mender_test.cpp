// Records as the kernel writes them when another recorder watches the same things.
#include "perf/live/record_mender.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>

#include "perf/event/event_set.h"
#include "perf/record/perf_event_compat.h"
#include "perf/record/perf_format.h"

namespace memtrace::record_mender_test {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kForeignId = 4242;
constexpr std::uint64_t kMinorId = 31;
constexpr std::uint64_t kMajorId = 32;
constexpr std::uint64_t kFaultsId = 33;
constexpr std::uint64_t kTime = 700;
constexpr std::uint64_t kAddress = 0x7f0000001000U;

OpenedEvent software(std::uint64_t config, std::uint64_t id, CallGraph graph) {
  const EventRequest request{
      .info = {.name = "faults", .kind = EventKind::Software, .config = config},
      .type = PERF_TYPE_SOFTWARE,
      .stacks = graph.user || graph.kernel};
  return {.request = request, .attr = make_attr(request, {.call_graph = graph}), .ids = {id}};
}

CallGraph none() {
  return {.kernel = false, .user = false};
}

constexpr std::uint64_t kCpu = 1;
constexpr std::uint64_t kStream = 4243;
constexpr std::uint64_t kEmptyRaw = 4;

// header, id, ip, {pid, tid}, time, address, and what follows.
Words sample_until_address(const Words& rest) {
  Words words = {0, kForeignId, 0x401000, 0x700000007, kTime, kAddress};
  words.insert(words.end(), rest.begin(), rest.end());
  const RecordHeader header{
      PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, static_cast<std::uint16_t>(words.size() * 8)};
  std::memcpy(words.data(), &header, sizeof(header));
  return words;
}

// With the CPU, and what follows.
Words sample(Words rest) {
  rest.insert(rest.begin(), kCpu);
  return sample_until_address(rest);
}

// Of an event that asked for its stream's number.
Words sample_of_stream(Words rest) {
  rest.insert(rest.begin(), {kStream, kCpu});
  return sample_until_address(rest);
}

class RecordMenderTest : public testing::Test {
 protected:
  void watch(const std::vector<OpenedEvent>& events) {
    mender_.emplace(events);
    parser_ = {};
    for (const OpenedEvent& event : events) {
      parser_.add_event(SampleLayout::of(event.attr), event.ids);
    }
  }

  // Parsed after it was mended.
  Sample mended(Words words, RecordMender::Written written = {1, 1000, kCpu}) {
    words_ = std::move(words);
    EXPECT_TRUE(mender_->is_wrong(std::as_bytes(std::span(words_)), parser_));
    const std::size_t size_bytes = mender_->mend(words_, written);
    EXPECT_EQ(header_of(std::as_bytes(std::span(words_))).size_bytes, size_bytes);
    auto record = parser_.parse(std::as_bytes(std::span(words_)).first(size_bytes));
    EXPECT_TRUE(record.ok()) << describe(record.error());
    time_ns_ = record.ok() ? record.value().stamp.time_ns : 0;
    return record.ok() ? std::get<Sample>(record.value().payload) : Sample{.event = 99};
  }

  std::optional<RecordMender> mender_;
  RecordParser parser_;
  Words words_;
  std::uint64_t time_ns_ = 0;
};

// Of a recorder that asks for no id: ours is filled in, and the time is by its clock.
TEST_F(RecordMenderTest, time_before_that_of_the_record_before_is_anothers) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none())});
  words_ = sample({});
  words_[1] = kMinorId;
  const auto bytes = std::as_bytes(std::span(words_));
  EXPECT_FALSE(mender_->is_wrong(bytes, parser_));
  EXPECT_FALSE(mender_->is_early(bytes, parser_, kTime));
  EXPECT_TRUE(mender_->is_early(bytes, parser_, kTime + 1));
  mender_->mend_early(words_, {.lowest_ns = kTime + 50, .highest_ns = kTime + 90, .cpu = kCpu});
  EXPECT_EQ(words_[4], kTime + 50);
  words_[1] = kForeignId;
  EXPECT_FALSE(mender_->is_early(bytes, parser_, kTime + 1000)) << "it is wrong in all";
}

TEST_F(RecordMenderTest, sample_with_anothers_id_is_of_our_only_event) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none())});
  const Sample fault = mended(sample({}));
  EXPECT_EQ(fault.event, 0U);
  EXPECT_EQ(fault.address, kAddress);
  EXPECT_EQ(words_[1], kMinorId);
  EXPECT_FALSE(mender_->is_wrong(std::as_bytes(std::span(words_)), parser_)) << "it is right now";
}

TEST_F(RecordMenderTest, minor_and_major_faults_are_told_apart) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none()),
         software(PERF_COUNT_SW_PAGE_FAULTS_MAJ, kMajorId, none())});
  EXPECT_EQ(mended(sample({})).event, 0U);
  EXPECT_EQ(mended(sample({kEmptyRaw})).event, 1U);
  // What the other one's callchain made the record longer by.
  EXPECT_EQ(mended(sample({0x1111, 0x2222})).event, 0U);
  EXPECT_EQ(mended(sample({kEmptyRaw, 0x2222})).event, 1U);
}

// The number of a stream is its own or another recorder's; what follows the CPU may look like one.
TEST_F(RecordMenderTest, all_three_events_of_a_fault_are_told_apart) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS, kFaultsId, none()),
         software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none()),
         software(PERF_COUNT_SW_PAGE_FAULTS_MAJ, kMajorId, none())});
  EXPECT_EQ(mended(sample_of_stream({})).event, 0U);
  EXPECT_EQ(mended(sample({})).event, 1U);
  EXPECT_EQ(mended(sample({kCpu})).event, 1U);
  EXPECT_EQ(mended(sample({kEmptyRaw})).event, 2U);
  const Sample fault = mended(sample_of_stream({0x1111, 0x2222}));
  EXPECT_EQ(fault.event, 0U);
  EXPECT_EQ(fault.address, kAddress);
}

TEST_F(RecordMenderTest, event_of_another_kind_is_told_from_faults) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS, kFaultsId, none()),
         software(PERF_COUNT_SW_ALIGNMENT_FAULTS, kMajorId, none())});
  EXPECT_EQ(mended(sample_of_stream({})).event, 0U);
  EXPECT_EQ(mended(sample_of_stream({kEmptyRaw})).event, 1U);
}

TEST_F(RecordMenderTest, sample_that_may_be_of_two_events_stays_as_it_is) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none()),
         software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kFaultsId, none())});
  Words words = sample({});
  mender_->mend(words, {1, 1000, kCpu});
  EXPECT_EQ(words, sample({}));
}

TEST_F(RecordMenderTest, time_of_another_clock_becomes_a_time_at_which_it_can_have_been_written) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none())});
  (void)mended(sample({}), {600, 800, kCpu});
  EXPECT_EQ(time_ns_, kTime);
  (void)mended(sample({}), {900, 1000, kCpu});
  EXPECT_EQ(time_ns_, 900U);
  (void)mended(sample({}), {500, 600, kCpu});
  EXPECT_EQ(time_ns_, 600U);
  (void)mended(sample({}), {0, 0, kCpu});
  EXPECT_EQ(time_ns_, kTime) << "our records have a clock that we cannot read";
}

// Ours are unwound; a chain that another one asked for has user frames by frame pointers.
TEST_F(RecordMenderTest, callchain_has_only_the_parts_that_were_asked_for) {
  const OpenedEvent event = software(PERF_COUNT_SW_PAGE_FAULTS, kFaultsId, {.stack_bytes = 64});
  ASSERT_EQ(event.attr.exclude_callchain_user, 1);
  watch({event});
  const auto registers = static_cast<std::size_t>(std::popcount(event.attr.sample_regs_user));
  Words rest = {4, kContextKernel, 0xffffffff81000000U, kContextUser, 0x401000};
  rest.push_back(PERF_SAMPLE_REGS_ABI_64);
  for (std::size_t i = 0; i < registers; ++i) {
    rest.push_back(100 + i);
  }
  for (const std::uint64_t word : {16U, 0xaaU, 0xbbU, 16U, 0xdeadU}) {
    rest.push_back(word);
  }
  const Sample fault = mended(sample_of_stream(rest));
  ASSERT_EQ(fault.callchain.size(), 2U);
  EXPECT_EQ(fault.callchain[1], 0xffffffff81000000U);
  ASSERT_EQ(fault.registers.values.size(), registers);
  EXPECT_EQ(fault.registers.values.front(), 100U);
  EXPECT_EQ(fault.user_stack.size(), 16U);
}

TEST_F(RecordMenderTest, stack_whose_end_was_cut_off_is_shorter) {
  const OpenedEvent event = software(PERF_COUNT_SW_PAGE_FAULTS, kFaultsId, {.stack_bytes = 64});
  watch({event});
  Words rest = {0, PERF_SAMPLE_REGS_ABI_64};
  rest.resize(rest.size() + static_cast<std::size_t>(std::popcount(event.attr.sample_regs_user)));
  for (const std::uint64_t word : {32U, 0xaaU, 0xbbU, 0xccU}) {  // a word and how much is missing
    rest.push_back(word);
  }
  const Sample fault = mended(sample_of_stream(rest));
  EXPECT_EQ(fault.user_stack.size(), 16U);
}

TEST_F(RecordMenderTest, mapping_loses_the_bit_that_another_event_asked_for) {
  watch({software(PERF_COUNT_SW_PAGE_FAULTS_MIN, kMinorId, none())});
  Words words(12);
  const RecordHeader header{PERF_RECORD_MMAP2, kMiscMmapBuildId | PERF_RECORD_MISC_USER, 96};
  std::memcpy(words.data(), &header, sizeof(header));
  const auto bytes = std::as_bytes(std::span(words));
  ASSERT_TRUE(mender_->is_wrong(bytes, parser_));
  EXPECT_EQ(mender_->mend(words, {}), 96U);
  EXPECT_EQ(header_of(bytes).misc, PERF_RECORD_MISC_USER);
  EXPECT_FALSE(mender_->is_wrong(bytes, parser_));
}

}  // namespace
}  // namespace memtrace::record_mender_test
