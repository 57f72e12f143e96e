#include "perf/target/mapping_recovery.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "perf/event/event_attr.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_parser.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kId = 9;
constexpr std::uint64_t kNow = 1'000'000'000'000'000;
constexpr std::uint64_t kTime = 77;

// Processes that have mappings in the records, all of them with this time.
std::set<std::uint32_t> mapped_pids(const RecordBuilder& records) {
  RecordParser parser;
  parser.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
  std::set<std::uint32_t> pids;
  for (auto rest = records.bytes(); !rest.empty();) {
    const auto bytes = rest.first(header_of(rest).size_bytes);
    rest = rest.subspan(bytes.size());
    const auto record = parser.parse(bytes);
    EXPECT_EQ(record.value().stamp.time_ns, kTime);
    if (const auto* mmap = std::get_if<Mmap>(&record.value().payload)) {
      pids.insert(mmap->pid);
    }
  }
  return pids;
}

std::set<std::uint32_t> read(MappingRecovery& mappings) {
  RecordBuilder records(kId);
  records.set_time(kTime);
  mappings.read(records);
  return mapped_pids(records);
}

const auto kOwnPid = static_cast<std::uint32_t>(::getpid());
const Record kLoss{.payload = Lost{.count = 1}};

TEST(LostMappingsTest, only_the_kernels_losses_put_mappings_in_doubt) {
  MappingRecovery mappings(true, KeptMaps::Executable);
  EXPECT_FALSE(mappings.is_due(kNow));
  for (const LossReason reason : {LossReason::Late, LossReason::Overload, LossReason::Malformed}) {
    mappings.see({.payload = Lost{.count = 1, .reason = reason}});
    EXPECT_FALSE(mappings.is_due(kNow));
  }
  mappings.see(kLoss);
  EXPECT_TRUE(mappings.is_due(kNow));
}

TEST(LostMappingsTest, reading_again_waits_for_another_loss_and_some_time) {
  MappingRecovery mappings(false, KeptMaps::Executable);
  mappings.see(kLoss);
  read(mappings);
  EXPECT_FALSE(mappings.is_due(kNow)) << "no other loss";
  mappings.see(kLoss);
  EXPECT_FALSE(mappings.is_due(0));
  EXPECT_TRUE(mappings.is_due(kNow));
}

TEST(LostMappingsTest, processes_that_records_tell_of_are_read_until_they_end) {
  MappingRecovery mappings(false, KeptMaps::Executable);
  EXPECT_TRUE(read(mappings).empty());
  mappings.see({.payload = Sample{.pid = kOwnPid}});
  EXPECT_EQ(read(mappings), std::set{kOwnPid});
  mappings.see({.payload = Exit{.pid = kOwnPid, .tid = kOwnPid + 1}});
  EXPECT_EQ(read(mappings), std::set{kOwnPid}) << "a thread of it";
  mappings.see({.payload = Exit{.pid = kOwnPid, .tid = kOwnPid}});
  EXPECT_TRUE(read(mappings).empty());
  mappings.see({.payload = Fork{.pid = kOwnPid, .parent_pid = 1, .tid = kOwnPid}});
  EXPECT_EQ(read(mappings), std::set{kOwnPid});
}

TEST(LostMappingsTest, all_processes_are_read_for_the_whole_machine) {
  MappingRecovery mappings(true, KeptMaps::Executable);
  EXPECT_TRUE(read(mappings).contains(kOwnPid));
}

}  // namespace
}  // namespace memtrace
