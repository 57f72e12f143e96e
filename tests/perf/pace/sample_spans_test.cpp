// A sample counts if its event was enabled everywhere by then, and for as much as its span says.
#include "perf/pace/sample_spans.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace::sample_spans_test {
namespace {

void add(SampleSpans& spans, std::uint32_t event, const SampleSpan& span) {
  spans.add(std::span(&event, 1), [&span] { return span; });
}

TEST(SampleSpansTest, a_window_has_its_length_and_its_share) {
  SampleSpans spans;
  add(spans, 3, {.from_ns = 100, .to_ns = 200, .share = 8});
  add(spans, 3, {.from_ns = 500, .to_ns = 600, .share = 4});
  EXPECT_EQ(spans.share_at(3, 99), 0U);
  EXPECT_EQ(spans.share_at(3, 100), 8U);
  EXPECT_EQ(spans.share_at(3, 199), 8U);
  EXPECT_EQ(spans.share_at(3, 200), 0U);
  EXPECT_EQ(spans.share_at(3, 499), 0U);
  EXPECT_EQ(spans.share_at(3, 500), 4U);
  EXPECT_EQ(spans.share_at(3, 700), 0U);
}

TEST(SampleSpansTest, what_is_watched_all_the_time_is_so_until_it_ends) {
  SampleSpans spans;
  add(spans, 0, {.from_ns = 10});
  EXPECT_EQ(spans.share_at(0, 9), 0U);
  EXPECT_EQ(spans.share_at(0, 1'000'000), 1U);
  spans.end(0, 1'000'010);
  EXPECT_EQ(spans.share_at(0, 1'000'009), 1U);
  EXPECT_EQ(spans.share_at(0, 1'000'010), 0U);
}

TEST(SampleSpansTest, a_window_that_is_over_is_not_ended_later) {
  SampleSpans spans;
  add(spans, 1, {.from_ns = 10, .to_ns = 20, .share = 2});
  spans.end(1, 50);
  EXPECT_EQ(spans.share_at(1, 19), 2U);
  EXPECT_EQ(spans.share_at(1, 30), 0U);
}

TEST(SampleSpansTest, an_event_that_was_never_enabled_has_no_samples) {
  SampleSpans spans;
  constexpr auto kBoth = std::to_array<std::uint32_t>({2, 5});
  spans.add(kBoth, [] { return SampleSpan{.from_ns = 1, .share = 2}; });
  EXPECT_EQ(spans.share_at(5, 3), 2U);
  EXPECT_EQ(spans.share_at(2, 3), 2U);
  EXPECT_EQ(spans.share_at(4, 3), 0U);
  EXPECT_EQ(spans.share_at(9, 3), 0U);
}

}  // namespace
}  // namespace memtrace::sample_spans_test
