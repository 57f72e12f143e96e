#include "perf/event/attr_features.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

TEST(AttrFeatures, every_feature_says_since_when_and_what_stands_in_for_it) {
  for (const AttrFeature& feature : attr_features()) {
    EXPECT_FALSE(feature.since.empty()) << feature.name;
    EXPECT_FALSE(feature.instead.empty()) << feature.name;
  }
}

TEST(AttrFeatures, loss_at_the_end_is_told_where_the_kernel_does_not_count_it) {
  const auto notes = feature_notes({.format_lost = false});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("lost at the very end"), std::string::npos);
  EXPECT_TRUE(feature_notes({}).empty());
}

// A kernel that may not be asked at all: seccomp, perf_event_paranoid 4.
TEST(AttrFeatures, refusal_of_the_call_itself_is_an_error_with_its_remedy) {
  class Forbidden final : public PerfCalls {
   public:
    int open(perf_event_attr&, Place, unsigned long) const override {
      errno = EPERM;
      return -1;
    }

    int control(int, unsigned long, unsigned long) const override { return -1; }

    ssize_t read(int, std::span<std::uint64_t>) const override { return -1; }
  };

  const auto features = probe_features(Forbidden());
  ASSERT_FALSE(features.ok());
  EXPECT_EQ(features.error().errno_value, EPERM);
  EXPECT_NE(features.error().hint.find("seccomp"), std::string::npos);
}

}  // namespace
}  // namespace memtrace::test
