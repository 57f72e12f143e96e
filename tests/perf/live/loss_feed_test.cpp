#include "perf/live/loss_feed.h"

#include <gtest/gtest.h>

#include "perf/event/event_attr.h"
#include "perf/record/record_builder.h"

namespace memtrace::loss_feed_test {
namespace {

constexpr std::uint64_t kId = 77;

class LossFeedTest : public testing::Test {
 protected:
  LossFeedTest() {
    RecordParser parser;
    parser.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
    parser_.publish(std::move(parser));
  }

  // A ring gives out a record of this payload.
  Record see(std::uint64_t time_ns, RecordPayload payload, std::uint32_t ring = 0) {
    Record record{.stamp = {.time_ns = time_ns}, .payload = std::move(payload)};
    record.stamp.stream = ring;
    feed_.see(record);
    return record;
  }

  // The merge has records of these times to give out: lost ones, of one event each.
  void make_ready(const std::vector<std::uint64_t>& times_ns) {
    RecordBuilder records(kId);
    for (const std::uint64_t time_ns : times_ns) {
      records.lost(1, time_ns);
    }
    ChunkPtr chunk = queue_.take_empty();
    std::ranges::copy(records.bytes(), chunk->room().begin());
    chunk->used_bytes = records.bytes().size();
    merge_.add(std::move(chunk));
    merge_.release(true);
  }

  std::uint64_t next_loss_ns(bool all = false) {
    const auto record = feed_.next_loss(merge_, all);
    return record ? record->stamp.time_ns : 0;
  }

  SharedParser parser_;
  ChunkQueue queue_{1 << 20};
  RingMerge merge_{2, parser_, queue_};
  LossFeed feed_{2, true};
};

TEST_F(LossFeedTest, loss_began_after_the_record_before_it_in_its_ring) {
  see(10, Exit{}, 0);
  see(30, Exit{}, 1);
  const Record record = see(40, Lost{.count = 2}, 0);
  EXPECT_EQ(std::get<Lost>(record.payload).first_ns, 10U);
  EXPECT_EQ(feed_.last_time_ns(), 40U);
}

TEST_F(LossFeedTest, losses_are_given_out_between_the_records_of_their_times) {
  feed_.add({.late = {{.first_ns = 40, .last_ns = 50, .count = 3}},
             .dropped = {{.first_ns = 10, .last_ns = 20, .count = 1}}});
  make_ready({30, 60});
  EXPECT_EQ(next_loss_ns(), 20U);
  EXPECT_EQ(next_loss_ns(), 0U) << "the record of 30 comes first";
  merge_.next();
  const auto late = feed_.next_loss(merge_, false);
  ASSERT_TRUE(late);
  const auto& lost = std::get<Lost>(late->payload);
  EXPECT_EQ(lost.reason, LossReason::Late);
  EXPECT_EQ(lost.count, 3U);
  EXPECT_EQ(lost.first_ns, 40U);
}

TEST_F(LossFeedTest, a_gap_is_a_loss_between_records_that_nobody_counts) {
  feed_.add({.dropped = {{.first_ns = 50, .last_ns = 60, .count = 1}}});
  feed_.note_gap(20);
  make_ready({30});
  const auto gap = feed_.next_loss(merge_, false);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->stamp.time_ns, 20U);
  EXPECT_EQ(std::get<Lost>(gap->payload).count, 0U);
  EXPECT_EQ(next_loss_ns(), 0U) << "the record of 30 comes first";
}

TEST_F(LossFeedTest, loss_after_all_records_is_given_out_at_the_end) {
  feed_.add({.dropped = {{.first_ns = 10, .last_ns = 20, .count = 1}}});
  EXPECT_EQ(next_loss_ns(), 0U) << "records of that time may still come";
  EXPECT_EQ(next_loss_ns(true), 20U);
}

TEST_F(LossFeedTest, cut_stacks_have_the_time_of_the_newest_record) {
  see(25, Exit{});
  feed_.add({.cut = 7});
  const auto record = feed_.next_own();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->stamp.time_ns, 25U);
  EXPECT_EQ(std::get<CutStacks>(record->payload).count, 7U);
  EXPECT_FALSE(feed_.next_own());
}

TEST_F(LossFeedTest, what_only_the_counters_know_was_lost_at_the_very_end) {
  see(10, Exit{}, 0);
  see(20, Lost{.count = 4}, 1);
  make_ready({30, 31});
  feed_.add_tail(9, merge_, parser_.current(), 15);
  const auto record = feed_.next_own();
  ASSERT_TRUE(record);
  const auto& lost = std::get<Lost>(record->payload);
  EXPECT_EQ(lost.count, 3U) << "9 were counted, 4 given out, 2 are about to be";
  EXPECT_EQ(lost.first_ns, 15U) << "after the start, in the ring that has been quiet for longest";
}

TEST_F(LossFeedTest, counters_that_records_explain_add_nothing) {
  see(20, Lost{.count = 4});
  feed_.add_tail(4, merge_, parser_.current(), 0);
  EXPECT_FALSE(feed_.next_own());
}

}  // namespace
}  // namespace memtrace::loss_feed_test
