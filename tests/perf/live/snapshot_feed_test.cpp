#include "perf/live/snapshot_feed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "perf/event/event_attr.h"

namespace memtrace::snapshot_feed_test {
namespace {

constexpr std::uint64_t kId = 9;

class SnapshotFeedTest : public testing::Test {
 protected:
  SnapshotFeedTest() {
    parser_.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
  }

  std::vector<Record> rest() {
    std::vector<Record> records;
    while (auto record = feed_.next(parser_)) {
      records.push_back(*record);
    }
    return records;
  }

  static bool is_own_mapping(const Record& record) {
    const auto* mmap = std::get_if<Mmap>(&record.payload);
    return mmap != nullptr && mmap->pid == static_cast<std::uint32_t>(::getpid());
  }

  RecordParser parser_;
  Target target_{.kind = TargetKind::Processes, .ids = {static_cast<std::uint32_t>(::getpid())}};
  SnapshotFeed feed_{RecordBuilder(kId), target_, KeptMaps::Executable};
};

TEST_F(SnapshotFeedTest, what_runs_is_given_out_once) {
  EXPECT_TRUE(rest().empty());
  feed_.take();
  EXPECT_TRUE(std::ranges::any_of(rest(), is_own_mapping));
  EXPECT_TRUE(rest().empty());
}

TEST_F(SnapshotFeedTest, files_with_code_are_known_before_they_are_given_out) {
  feed_.take();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto mappings = feed_.mappings(parser_);
  const auto found = std::ranges::find(mappings, self, &NewMapping::path);
  ASSERT_NE(found, mappings.end());
  EXPECT_NE(found->time_ns, 0U);
  EXPECT_FALSE(rest().empty());
}

TEST_F(SnapshotFeedTest, mappings_are_read_again_after_a_loss_with_the_time_of_the_loss) {
  feed_.take();
  rest();
  EXPECT_FALSE(feed_.read_lost(77)) << "nothing is lost";
  feed_.see({.payload = Lost{.count = 1}});
  EXPECT_TRUE(feed_.read_lost(77));
  const auto records = rest();
  ASSERT_FALSE(records.empty());
  EXPECT_TRUE(std::holds_alternative<Lost>(records.front().payload))
      << "calls that have begun are none of these mappings";
  const auto mapping = std::ranges::find_if(records, is_own_mapping);
  ASSERT_NE(mapping, records.end());
  EXPECT_EQ(mapping->stamp.time_ns, 77U);
}

}  // namespace
}  // namespace memtrace::snapshot_feed_test
