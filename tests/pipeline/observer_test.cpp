// Readings of /proc at the moment of an event, from a folder made up for the test.
#include "pipeline/observer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "pipeline/about.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

class ObserverTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(dir_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  static Event refused_mmap(std::uint64_t time_ns) {
    Event event;
    event.time_ns = time_ns;
    event.pid = 12;
    event.tid = 13;
    event.payload = SystemCallDone{.call = SystemCall::Mmap, .result = -ENOMEM};
    return event;
  }

  TempDir dir_;
  Observations seen_;
};

TEST_F(ObserverTest, the_limits_of_a_process_that_was_refused_memory_are_read) {
  write("12/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         67108864             unlimited            bytes     \n");
  write("12/status", "Name:\tx\nVmSize:\t    3060 kB\n");
  write("12/maps", "00400000-00401000 r--p 0 00:00 0\n00401000-00402000 r--p 0 00:00 0\n");
  write("meminfo", "CommitLimit:     1000 kB\nCommitted_AS:    2000 kB\n");
  write("sys/vm/overcommit_memory", "2\n");
  Observer observer(ProcFolder{dir_.path()});
  observer.on(refused_mmap(5), seen_);
  const Observation* limits = seen_.find("limits", 5, 13);
  ASSERT_NE(limits, nullptr);
  ASSERT_NE(limits->facts.number("rlimit_as"), nullptr);
  EXPECT_EQ(*limits->facts.number("rlimit_as"), 67108864U);
  EXPECT_EQ(*limits->facts.text("rlimit_data"), "unlimited");
  EXPECT_EQ(*limits->facts.number("vm_size"), 3060U * 1024);
  EXPECT_EQ(*limits->facts.number("mappings"), 2U);
  EXPECT_EQ(*limits->facts.number("committed"), 2000U * 1024);
  EXPECT_EQ(*limits->facts.number("overcommit_memory"), 2U);
  EXPECT_EQ(limits->facts.number("max_map_count"), nullptr);
}

TEST_F(ObserverTest, nothing_is_read_for_a_call_that_was_not_refused) {
  Event event = refused_mmap(5);
  event.payload = SystemCallDone{.call = SystemCall::Mmap, .result = 0x1000};
  Observer observer(ProcFolder{dir_.path()});
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(ObserverTest, a_burst_is_read_in_part_and_the_rest_is_counted) {
  Observer observer(ProcFolder{dir_.path()});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    observer.on(refused_mmap(i), seen_);
  }
  EXPECT_EQ(seen_.skipped(), 800U);
  observer.on(refused_mmap(2'000'000'000), seen_);
  EXPECT_EQ(seen_.skipped(), 800U);
  EXPECT_NE(seen_.find("limits", 2'000'000'000, 13), nullptr);
}

TEST_F(ObserverTest, segments_are_read_once_at_the_end_if_any_call_was_about_them) {
  write("sysvipc/shm",
        "       key      shmid perms                  size  cpid  lpid nattch   uid\n"
        "         0          7   600                  4096   101   102      3     0\n");
  Observer observer(ProcFolder{dir_.path()});
  observer.at_end(10, seen_);
  EXPECT_TRUE(seen_.empty());
  Event event = refused_mmap(5);
  event.payload = SystemCallDone{.call = SystemCall::Shmget, .result = 7};
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
  observer.at_end(20, seen_);
  const Observation* segments = seen_.last("segments");
  ASSERT_NE(segments, nullptr);
  EXPECT_EQ(segments->time_ns, 20U);
  ASSERT_EQ(segments->rows.size(), 1U);
  EXPECT_EQ(*segments->rows[0].number("shmid"), 7U);
  EXPECT_EQ(*segments->rows[0].number("nattch"), 3U);
}

TEST(AboutObservations, come_back_from_the_file) {
  About about;
  about.observations.push_back({.reader = "limits",
                                .time_ns = 7,
                                .tid = 8,
                                .delay_ns = 9,
                                .facts = {.numbers = {{"a", 1}}, .texts = {{"b", "c"}}},
                                .rows = {{.numbers = {{"pid", 2}}, .texts = {{"comm", "d"}}}}});
  about.observations_skipped = 3;
  const About read = parse_about(to_json(about));
  EXPECT_EQ(read.observations, about.observations);
  EXPECT_EQ(read.observations_skipped, 3U);
}

}  // namespace
}  // namespace memtrace::test
