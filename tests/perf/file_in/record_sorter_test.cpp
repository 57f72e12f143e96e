#include "perf/file_in/record_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace memtrace::test {
namespace {

std::vector<std::uint64_t> drain(RecordSorter& sorter) {
  std::vector<std::uint64_t> sequences;
  while (const auto entry = sorter.pop()) {
    sequences.push_back(entry->sequence);
  }
  return sequences;
}

using Sequences = std::vector<std::uint64_t>;

TEST(RecordSorter, nothing_goes_out_before_a_round_or_the_end) {
  RecordSorter sorter;
  sorter.add(10, nullptr);
  EXPECT_EQ(drain(sorter), Sequences{});
  sorter.finish();
  EXPECT_EQ(drain(sorter), Sequences{0});
}

TEST(RecordSorter, a_round_lets_out_what_the_round_before_had) {
  RecordSorter sorter;
  sorter.add(10, nullptr);
  sorter.add(5, nullptr);
  sorter.finish_round();
  EXPECT_EQ(drain(sorter), Sequences{});
  sorter.add(12, nullptr);
  sorter.add(7, nullptr);  // older than the round before, as the format allows
  sorter.finish_round();
  EXPECT_EQ(drain(sorter), (Sequences{1, 3, 0}));
  sorter.finish();
  EXPECT_EQ(drain(sorter), Sequences{2});
}

TEST(RecordSorter, late_record_is_counted_not_reordered) {
  RecordSorter sorter;
  sorter.add(10, nullptr);
  sorter.finish_round();
  sorter.finish_round();
  EXPECT_EQ(drain(sorter), Sequences{0});
  EXPECT_FALSE(sorter.add(9, nullptr).has_value());
  EXPECT_EQ(sorter.late_count(), 1U);
  EXPECT_TRUE(sorter.add(10, nullptr).has_value());
  sorter.finish();
  EXPECT_EQ(drain(sorter), Sequences{1});
}

TEST(RecordSorter, late_record_that_must_stay_comes_next) {
  RecordSorter sorter;
  sorter.add(10, nullptr);
  sorter.finish_round();
  sorter.finish_round();
  EXPECT_EQ(drain(sorter), Sequences{0});
  sorter.add(20, nullptr);
  EXPECT_TRUE(sorter.add(9, nullptr, RecordSorter::Late::GiveOut).has_value());
  sorter.finish();
  EXPECT_EQ(drain(sorter), (Sequences{2, 1}));
  EXPECT_EQ(sorter.late_count(), 0U);
}

TEST(RecordSorter, records_without_a_time_keep_their_place) {
  RecordSorter sorter;
  for (const std::uint64_t time_ns : {0U, 0U, 7U, 0U, 9U}) {
    sorter.add(time_ns, nullptr);
  }
  sorter.finish();
  EXPECT_EQ(drain(sorter), (Sequences{0, 1, 2, 3, 4}));
}

TEST(RecordSorter, equal_times_keep_the_order_of_the_file) {
  RecordSorter sorter;
  for (const std::uint64_t time_ns : {5U, 4U, 5U, 4U, 5U, 4U}) {
    sorter.add(time_ns, nullptr);
  }
  sorter.finish();
  EXPECT_EQ(drain(sorter), (Sequences{1, 3, 5, 0, 2, 4}));
}

// The plainest thing that does the same: all records in one list, sorted at every question.
class NaiveSorter {
 public:
  void add(std::uint64_t time_ns) {
    waiting_.emplace_back(time_ns, next_++);
    newest_ns_ = std::max(newest_ns_, time_ns);
  }

  Sequences release(bool all) {
    std::sort(waiting_.begin(), waiting_.end());
    Sequences out;
    while (!waiting_.empty() && (all || waiting_.front().first <= round_ns_)) {
      out.push_back(waiting_.front().second);
      waiting_.erase(waiting_.begin());
    }
    round_ns_ = newest_ns_;
    return out;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> waiting_;
  std::uint64_t next_ = 0, newest_ns_ = 0, round_ns_ = 0;
};

// In proportion to the square of their number they take minutes.
TEST(RecordSorter, records_that_go_backwards_take_time_in_proportion_to_their_number) {
  constexpr std::uint64_t kRecords = 300'000;
  RecordSorter sorter;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    sorter.add(kRecords - i, nullptr);
  }
  sorter.finish();
  const Sequences sequences = drain(sorter);
  ASSERT_EQ(sequences.size(), kRecords);
  EXPECT_EQ(sequences.front(), kRecords - 1);
  EXPECT_EQ(sequences.back(), 0U);
}

TEST(RecordSorter, agrees_with_a_naive_model) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    RecordSorter sorter;
    NaiveSorter naive;
    const std::uint64_t spread = 1 + random() % 40;
    for (std::uint64_t round = 1; round < 12; ++round) {
      for (std::uint64_t i = random() % 30; i > 0; --i) {
        const std::uint64_t time_ns = round * 40 + random() % spread;
        ASSERT_TRUE(sorter.add(time_ns, nullptr).has_value());
        naive.add(time_ns);
      }
      sorter.finish_round();
      if (random() % 2 == 0) {  // what is released twice before it is taken
        sorter.finish_round();
        Sequences expected = naive.release(false);
        const Sequences more = naive.release(false);
        expected.insert(expected.end(), more.begin(), more.end());
        ASSERT_EQ(drain(sorter), expected) << "turn " << turn;
      } else {
        ASSERT_EQ(drain(sorter), naive.release(false)) << "turn " << turn;
      }
    }
    sorter.finish();
    ASSERT_EQ(drain(sorter), naive.release(true)) << "turn " << turn;
  }
}

}  // namespace
}  // namespace memtrace::test
