#include "perf/live/ring_merge.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

#include "perf/event/event_attr.h"
#include "perf/record/record_builder.h"

namespace memtrace::ring_merge_test {
namespace {

constexpr std::uint64_t kId = 77;

RecordParser parser() {
  RecordParser made;
  made.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
  return made;
}

// Puts samples at these times into a chunk.
void become_samples(Chunk& chunk, const std::vector<std::uint64_t>& times_ns) {
  chunk.used_bytes = 0;
  for (const std::uint64_t time_ns : times_ns) {
    const perf_event_header header{.type = PERF_RECORD_SAMPLE, .misc = 0, .size = 48};
    const std::array<std::uint64_t, 5> body = {kId, 0, 0, time_ns, 0};
    std::memcpy(chunk.room().data() + chunk.used_bytes, &header, sizeof(header));
    std::memcpy(chunk.room().data() + chunk.used_bytes + sizeof(header), body.data(), sizeof(body));
    chunk.used_bytes += header.size;
  }
}

// A chunk of lost records: the simplest that carry a time.
ChunkPtr chunk(ChunkQueue& queue,
               std::uint32_t stream,
               const std::vector<std::uint64_t>& times_ns,
               std::uint64_t complete_to_ns) {
  RecordBuilder records(kId);
  for (const std::uint64_t time_ns : times_ns) {
    records.lost(1, time_ns);
  }
  ChunkPtr made = queue.take_empty();
  std::copy(records.bytes().begin(), records.bytes().end(), made->room().begin());
  made->used_bytes = records.bytes().size();
  made->stream = stream;
  made->complete_to_ns = complete_to_ns;
  return made;
}

std::vector<std::uint64_t> released(RingMerge& merge, bool all) {
  merge.release(all);
  std::vector<std::uint64_t> times_ns;
  while (const auto entry = merge.next()) {
    times_ns.push_back(entry->time_ns);
  }
  return times_ns;
}

using Times = std::vector<std::uint64_t>;

class RingMergeTest : public ::testing::Test {
 protected:
  RingMergeTest() { parser_.publish(parser()); }

  SharedParser parser_;
  ChunkQueue queue_{std::size_t{64} << 20U};
  RingMerge merge_{2, parser_, queue_};
};

TEST_F(RingMergeTest, a_record_waits_until_every_ring_was_looked_at_twice_after_it) {
  merge_.add(chunk(queue_, 0, {10, 20}, 5));
  merge_.add(chunk(queue_, 1, {15}, 20));
  EXPECT_EQ(released(merge_, false), Times{});
  merge_.add(chunk(queue_, 0, {}, 20));
  EXPECT_EQ(released(merge_, false), Times{});
  merge_.add(chunk(queue_, 0, {}, 20));
  EXPECT_EQ(released(merge_, false), Times{});
  merge_.add(chunk(queue_, 1, {}, 20));
  EXPECT_EQ(released(merge_, false), (Times{10, 15, 20}));
  EXPECT_EQ(merge_.complete_to_ns(), 20U);
}

TEST_F(RingMergeTest, everything_comes_when_no_more_will) {
  merge_.add(chunk(queue_, 1, {30, 40}, 0));
  merge_.add(chunk(queue_, 0, {35}, 0));
  EXPECT_EQ(released(merge_, true), (Times{30, 35, 40}));
}

TEST_F(RingMergeTest, a_backlogs_memory_is_given_back) {
  Times many(10'000);
  std::iota(many.begin(), many.end(), 1);
  for (int i = 0; i < 60; ++i) {
    merge_.add(chunk(queue_, 0, many, 0));
  }
  EXPECT_EQ(released(merge_, true).size(), 600'000U);
  EXPECT_GE(merge_.capacity(), 600'000U);
  merge_.add(chunk(queue_, 0, {1}, 0));
  EXPECT_EQ(released(merge_, true), Times{1});
  EXPECT_LT(merge_.capacity(), 1'000U);
}

TEST_F(RingMergeTest, a_late_record_that_is_no_sample_comes_next_and_is_no_loss) {
  merge_.add(chunk(queue_, 0, {10}, 20));
  for (const std::uint32_t stream : {1U, 0U, 1U}) {
    merge_.add(chunk(queue_, stream, {}, 20));
  }
  EXPECT_EQ(released(merge_, false), Times{10});
  merge_.add(chunk(queue_, 1, {12, 25}, 30));
  EXPECT_TRUE(merge_.take_losses().late.empty());
  EXPECT_EQ(released(merge_, false), Times{12});
  EXPECT_EQ(released(merge_, true), Times{25});
}

TEST_F(RingMergeTest, a_sample_older_than_what_was_given_out_is_counted_as_late) {
  merge_.add(chunk(queue_, 0, {10}, 20));
  merge_.add(chunk(queue_, 1, {}, 20));
  merge_.add(chunk(queue_, 0, {}, 20));
  merge_.add(chunk(queue_, 1, {}, 20));
  EXPECT_EQ(released(merge_, false), Times{10});
  ChunkPtr late = chunk(queue_, 1, {}, 30);
  become_samples(*late, {12, 25});
  merge_.add(std::move(late));
  const auto losses = merge_.take_losses().late;
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].count, 1U);
  EXPECT_EQ(losses[0].first_ns, 12U);
  EXPECT_EQ(losses[0].last_ns, 12U);
  EXPECT_EQ(released(merge_, true), Times{25});
  EXPECT_TRUE(merge_.take_losses().late.empty());
}

// An interrupt between stamping and writing turns two records of one ring around.
TEST_F(RingMergeTest, records_of_one_ring_are_put_in_order_too) {
  merge_.add(chunk(queue_, 0, {11, 10}, 0));
  EXPECT_EQ(released(merge_, true), (Times{10, 11}));
  EXPECT_TRUE(merge_.take_losses().late.empty());
}

TEST_F(RingMergeTest, equal_times_keep_the_order_of_ring_and_arrival) {
  merge_.add(chunk(queue_, 1, {10, 10}, 0));
  merge_.add(chunk(queue_, 0, {10}, 0));
  merge_.release(true);
  std::vector<std::uint32_t> streams;
  std::vector<std::uint64_t> sequences;
  while (const auto entry = merge_.next()) {
    streams.push_back(entry->chunk->stream);
    sequences.push_back(entry->sequence);
  }
  EXPECT_EQ(streams, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_LT(sequences[1], sequences[2]);
}

TEST_F(RingMergeTest, agrees_with_sorting_everything_at_the_end) {
  std::mt19937 random(7);
  Times all;
  Times got;
  std::uint64_t now_ns = 1000;
  for (int round = 0; round < 300; ++round) {
    for (std::uint32_t stream = 0; stream < 2; ++stream) {
      const std::uint64_t looked_at_ns = now_ns;
      Times times;
      for (std::uint64_t i = random() % 5; i > 0; --i) {
        times.push_back(now_ns += random() % 10);
      }
      std::shuffle(times.begin(), times.end(), random);
      all.insert(all.end(), times.begin(), times.end());
      merge_.add(chunk(queue_, stream, times, looked_at_ns));
    }
    const Times some = released(merge_, false);
    got.insert(got.end(), some.begin(), some.end());
  }
  const bool came_in_time = got.size() > all.size() / 2;
  EXPECT_TRUE(came_in_time);
  const Times rest = released(merge_, true);
  got.insert(got.end(), rest.begin(), rest.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(got, all);
  EXPECT_TRUE(merge_.take_losses().late.empty());
}

// Hands over chunks with this many bytes each.
void push(ChunkQueue& queue, std::size_t count, std::size_t used_bytes) {
  for (std::size_t i = 0; i < count; ++i) {
    ChunkPtr chunk = queue.take_empty();
    chunk->used_bytes = used_bytes;
    queue.push(std::move(chunk));
  }
}

TEST(ChunkQueueTest, gives_up_stacks_first_and_samples_only_at_the_limit) {
  ChunkQueue queue(4 * Chunk::kBytes);
  EXPECT_EQ(queue.overload(), Overload::None);
  EXPECT_FALSE(queue.is_filling());
  push(queue, 1, Chunk::kBytes);
  EXPECT_EQ(queue.overload(), Overload::None);
  EXPECT_TRUE(queue.is_filling()) << "it is told before anything is given up";
  push(queue, 1, Chunk::kBytes);
  EXPECT_EQ(queue.overload(), Overload::CutStacks);
  push(queue, 2, Chunk::kBytes);
  EXPECT_EQ(queue.overload(), Overload::DropSamples);
  for (ChunkPtr& each : queue.take_all(std::chrono::milliseconds(0))) {
    queue.recycle(std::move(each));
  }
  EXPECT_EQ(queue.overload(), Overload::None);
}

TEST(ChunkQueueTest, what_a_burst_took_is_given_back_but_for_a_few) {
  ChunkQueue queue(1000 * Chunk::kBytes);
  push(queue, 200, 100);
  for (ChunkPtr& chunk : queue.take_all(std::chrono::milliseconds(0))) {
    queue.recycle(std::move(chunk));
  }
  EXPECT_EQ(queue.spare_count(), 64U);
}

// The memory of a live view stays what its steady work needs.
TEST(ChunkQueueTest, what_is_kept_of_a_burst_is_given_back_when_nobody_needs_it) {
  ChunkQueue queue(1000 * Chunk::kBytes);
  const auto pass = [&queue](std::size_t count) {
    push(queue, count, 100);
    for (ChunkPtr& chunk : queue.take_all(std::chrono::milliseconds(0))) {
      queue.recycle(std::move(chunk));
    }
  };
  const std::uint64_t now_ns = ChunkQueue::kIdleNs;
  pass(200);
  queue.free_idle(now_ns);
  EXPECT_EQ(queue.spare_count(), 64U);  // it may go on
  pass(5);
  queue.free_idle(now_ns + ChunkQueue::kIdleNs - 1);
  EXPECT_EQ(queue.spare_count(), 64U);
  queue.free_idle(now_ns + ChunkQueue::kIdleNs);
  EXPECT_EQ(queue.spare_count(), 5U);
  pass(3);
  queue.free_idle(now_ns + 2 * ChunkQueue::kIdleNs);
  EXPECT_EQ(queue.spare_count(), 3U);
}

std::uint64_t minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

TEST(ChunkQueueTest, what_was_taken_beforehand_is_kept_and_needs_no_fault) {
  constexpr std::size_t kChunks = 24;
  constexpr std::size_t kTouched = Chunk::kBytes / 2;
  ChunkQueue queue(16 * Chunk::kBytes);
  queue.reserve(kChunks, kTouched);
  EXPECT_EQ(queue.spare_count(), kChunks);
  std::vector<ChunkPtr> taken;
  const std::uint64_t before = minor_faults();
  for (std::size_t i = 0; i < kChunks; ++i) {
    taken.push_back(queue.take_empty());
    std::ranges::fill(taken.back()->room().first(kTouched), std::byte{1});
  }
  EXPECT_LT(minor_faults() - before, kTouched / 4096);  // of 24 times as many pages
  for (ChunkPtr& chunk : taken) {
    queue.recycle(std::move(chunk));
  }
  queue.free_idle(ChunkQueue::kIdleNs);
  queue.free_idle(2 * ChunkQueue::kIdleNs);
  EXPECT_EQ(queue.spare_count(), kChunks);
}

TEST(ChunkQueueTest, chunks_with_little_in_them_count_little) {
  ChunkQueue queue(4 * Chunk::kBytes);
  push(queue, 100, 1000);
  EXPECT_EQ(queue.overload(), Overload::None);
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

TEST(ChunkQueueTest, fresh_chunks_touch_no_memory) {
  ChunkQueue queue(std::size_t{1} << 30U);
  const std::size_t before_bytes = resident_bytes();
  push(queue, 100, 64);
  EXPECT_LT(resident_bytes() - before_bytes, 20 * Chunk::kBytes);
}

}  // namespace
}  // namespace memtrace::ring_merge_test
