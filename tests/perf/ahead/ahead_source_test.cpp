#include "perf/ahead/ahead_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "os/guarded_thread.h"

namespace memtrace {
namespace {

// Counts up, and writes into the recording how far it has come.
class CountingSource final : public HoldingSource {
 public:
  struct Plan {
    std::uint64_t records = 0;
    std::uint64_t change_at = 0;  // the recording changes before each this many
    std::uint64_t fail_at = 0;
    std::uint64_t throw_at = 0;
    std::size_t record_bytes = 8;
  };

  explicit CountingSource(const Plan& plan) : plan_(plan) {}

  Result<std::optional<Record>> next() override { return std::optional<Record>(); }

  Result<std::optional<Held>> take() override {
    if (plan_.change_at != 0 && given_ % plan_.change_at == 0) {
      before_();
      recording_.last_time_ns = given_;
    }
    if (given_ == plan_.records) {
      return std::optional<Held>();
    }
    ++given_;
    if (given_ == plan_.fail_at) {
      return Error{"read", 0, ""};
    }
    if (given_ == plan_.throw_at) {
      throw std::runtime_error("no memory");
    }
    held_.insert(given_);
    most_held_ = std::max(most_held_, held_.size());
    return std::optional<Held>({.record = {.stamp = {.time_ns = given_, .sequence = given_},
                                           .payload = OtherRecord{},
                                           .bytes = std::span(bytes_).first(plan_.record_bytes)},
                                .number = given_});
  }

  void release(std::uint64_t number) override { held_.erase(number); }

  void on_change(std::function<void()> before) override { before_ = std::move(before); }

  const Recording& recording() const override { return recording_; }

  std::size_t most_held() const { return most_held_; }

  std::size_t held() const { return held_.size(); }

 private:
  Plan plan_;
  std::uint64_t given_ = 0;
  std::set<std::uint64_t> held_;
  std::size_t most_held_ = 0;
  std::function<void()> before_ = [] {};
  Recording recording_;
  std::array<std::byte, 32768> bytes_{};
};

std::unique_ptr<CountingSource> counting(const CountingSource::Plan& plan) {
  return std::make_unique<CountingSource>(plan);
}

TEST(AheadSource, records_come_in_their_order_and_end) {
  constexpr std::uint64_t kRecords = 100'000;
  AheadSource source(counting({.records = kRecords}));
  for (std::uint64_t i = 1; i <= kRecords; ++i) {
    const auto record = source.next();
    ASSERT_TRUE(record.ok() && record.value());
    ASSERT_EQ(record.value()->stamp.sequence, i);
  }
  EXPECT_FALSE(source.next().value());
  EXPECT_FALSE(source.next().value()) << "and stays at its end";
}

TEST(AheadSource, the_thread_works_on_each_record_in_order) {
  AheadSource source(counting({.records = 3000}));
  std::uint64_t worked = 0;
  EXPECT_TRUE(source.work_ahead([&worked](Record& record) {
    worked += record.stamp.time_ns == worked + 1 ? 1 : 0;
    record.payload = CutStacks{.count = worked};
  }));
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    const auto record = source.next();
    ASSERT_TRUE(record.ok() && record.value());
    EXPECT_EQ(std::get<CutStacks>(record.value()->payload).count, i);
  }
}

TEST(AheadSource, there_is_no_work_for_a_thread_that_runs) {
  AheadSource source(counting({.records = 10}));
  ASSERT_TRUE(source.next().ok());
  EXPECT_FALSE(source.work_ahead([](Record&) {}));
}

TEST(AheadSource, recording_changes_between_the_same_records_as_without_a_thread) {
  constexpr std::uint64_t kEach = 700;
  AheadSource source(counting({.records = 10 * kEach, .change_at = kEach}));
  for (std::uint64_t i = 0; i < 10 * kEach; ++i) {
    ASSERT_TRUE(source.next().value());
    ASSERT_EQ(source.recording().last_time_ns, i - i % kEach);
  }
  EXPECT_FALSE(source.next().value());
  EXPECT_EQ(source.recording().last_time_ns, 10 * kEach) << "changed at the end, too";
}

TEST(AheadSource, an_error_comes_behind_the_records_before_it) {
  AheadSource source(counting({.records = 10'000, .fail_at = 3000}));
  for (std::uint64_t i = 1; i < 3000; ++i) {
    ASSERT_TRUE(source.next().value());
  }
  EXPECT_EQ(source.next().error().message, "read");
}

TEST(AheadSource, a_caller_that_stops_early_waits_for_nothing) {
  AheadSource source(counting({.records = 1'000'000'000, .change_at = 5000}));
  for (int i = 0; i < 6000; ++i) {
    ASSERT_TRUE(source.next().value());
  }
}

TEST(AheadSource, nobody_needs_to_take_a_record) {
  const AheadSource source(counting({.records = 1'000'000'000, .change_at = 100}));
  EXPECT_EQ(source.recording().last_time_ns, 0U);
}

TEST(AheadSource, memory_of_few_records_is_held) {
  auto counted = counting({.records = 20'000, .record_bytes = 32768});
  const CountingSource& behind = *counted;
  AheadSource source(std::move(counted));
  while (source.next().value()) {
  }
  EXPECT_LE(behind.most_held(), AheadSource::kBatches * AheadSource::kBatchBytes / 32768);
  EXPECT_EQ(behind.held(), 0U);  // when it has ended
}

TEST(AheadSource, an_exception_of_the_thread_is_an_error) {
  AheadSource source(counting({.records = 10'000, .throw_at = 5000}));
  Result<std::optional<Record>> record = std::optional<Record>();
  do {
    record = source.next();
  } while (record.ok() && record.value());
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().message, thread_failure());
}

}  // namespace
}  // namespace memtrace
