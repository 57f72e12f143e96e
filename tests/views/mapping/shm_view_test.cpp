#include "support/call_script.h"

namespace memtrace::test::shm_view_test {
namespace {

constexpr std::uint64_t kPlace = 0x7f0000000000;

std::vector<Step> get(std::uint64_t key,
                      std::uint64_t bytes,
                      std::uint64_t flags,
                      std::int64_t id,
                      const CallAt& when = {}) {
  return system_call(
      "shmget", {.call = SystemCall::Shmget, .arguments = {key, bytes, flags}}, id, when);
}

std::vector<Step> attach(std::uint64_t id, std::uint64_t at) {
  return system_call("shmat",
                     {.call = SystemCall::Shmat, .arguments = {id, 0, 010000}},
                     static_cast<std::int64_t>(at));
}

std::vector<Step> control(std::uint64_t id, std::uint64_t command) {
  return system_call("shmctl", {.call = SystemCall::Shmctl, .arguments = {id, command, 0}}, 0);
}

ViewOptions traced() {
  ViewOptions options;
  options.own["trace"] = "1";
  return options;
}

Cell of_row(const Table& table, std::size_t row, std::string_view column) {
  return table.rows.at(row).at(column_index(table, column));
}

TEST(ShmView, calls_are_counted_with_their_failures_and_latency) {
  EventScript script("shm");
  script.play(get(0, 4096, 01600, 7, {.took_ns = 100}));
  script.play(get(42, 4096, 03600, -17, {.took_ns = 300}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("shmget")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("shmget")}, "failed"), number(1));
  EXPECT_EQ(figure(report, {text("shmget")}, "bytes"), number(4096));
  EXPECT_EQ(figure(report, {text("shmget")}, "avg_ns"), number(200));
  EXPECT_EQ(figure(report, {text("shmget")}, "max_ns"), number(300));
}

TEST(ShmView, calls_during_which_the_clock_stood_still_have_no_latency) {
  EventScript script("shm", traced());
  script.play(get(0, 4096, 01600, 7, {.took_ns = 0}));
  script.play(get(42, 4096, 03600, -17, {.took_ns = 300}));
  script.play(system_call(
      "shmat", {.call = SystemCall::Shmat, .arguments = {7, 0, 0}}, kPlace, {.took_ns = 0}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("shmget")}, "avg_ns"), number(300));
  EXPECT_EQ(figure(report, {text("shmat")}, "avg_ns"), Cell());
  EXPECT_EQ(figure(report, {text("shmat")}, "max_ns"), Cell());
  EXPECT_EQ(of_row(script.lines(), 0, "took_ns"), Cell());
  EXPECT_TRUE(has_note(report, "how long 2 calls took is not known"));
}

TEST(ShmView, arguments_are_told_in_words) {
  EventScript script("shm", traced());
  script.play(get(0, 4096, 03600, 7));
  script.play(get(0xabc, 0x200000, 01000 | 04000 | (21U << 26U) | 0640, 8));
  script.play(attach(7, kPlace));
  script.play(system_call("shmdt", {.call = SystemCall::Shmdt, .arguments = {kPlace}}, 0));
  script.play(control(7, 0x100));
  script.play(control(7, 99));
  script.play(
      system_call("memfd_create", {.call = SystemCall::MemfdCreate, .arguments = {1, 3}}, 5));
  const Table trace = script.lines();
  ASSERT_EQ(trace.rows.size(), 7U);
  const std::array<std::string_view, 7> expected = {
      "key=IPC_PRIVATE size=4096 flags=IPC_CREAT|IPC_EXCL|0600",
      "key=0xabc size=2097152 flags=IPC_CREAT|SHM_HUGETLB|huge_2M|0640",
      "id=7 address=NULL flags=SHM_RDONLY",
      "address=0x7f0000000000",
      "id=7 cmd=IPC_RMID buf=NULL",
      "id=7 cmd=99 buf=NULL",
      "flags=MFD_CLOEXEC|MFD_ALLOW_SEALING"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(of_row(trace, i, "arguments"), text(expected.at(i)));
  }
  EXPECT_EQ(of_row(trace, 0, "tid"), number(100));
  EXPECT_EQ(of_row(trace, 2, "result"), text("0x7f0000000000"));
  EXPECT_EQ(of_row(trace, 0, "result"), text("7"));
}

TEST(ShmView, segments_that_were_not_removed_are_left) {
  EventScript script("shm");
  script.play(get(0, 4096, 01600, 7));
  script.play(get(0, 8192, 01600, 8));
  script.play(attach(8, kPlace));
  script.play(control(7, 0));
  script.play(control(8, 2));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "left"), 1U);
  EXPECT_EQ(total(report, "left_bytes"), 8192U);
  const Table& segments = report.tables.at(1);
  ASSERT_EQ(segments.rows.size(), 2U);
  EXPECT_EQ(of_row(segments, 0, "removed"), text("yes"));
  EXPECT_EQ(of_row(segments, 1, "attaches"), number(1));
  EXPECT_EQ(of_row(segments, 1, "left"), number(8192));
}

TEST(ShmView, one_that_was_found_was_not_created) {
  EventScript script("shm");
  script.play(get(42, 0, 0, 7));
  script.play(get(43, 0, 01600, 8));
  EXPECT_EQ(total(script.finish(), "left"), 0U);
}

TEST(ShmView, what_proc_said_at_the_end_settles_what_is_left) {
  EventScript script("shm");
  script.play(get(0, 4096, 01600, 7));
  script.play(get(0, 4096, 01600, 8));
  script.world().observations().add(
      {.reader = "segments",
       .time_ns = 9000,
       .facts = {.numbers = {{"segments", 1}}},
       .rows = {{.numbers = {{"shmid", 8}, {"nattch", 3}, {"rss", 8192}}}}});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "left"), 1U);
  const Table& segments = report.tables.at(1);
  EXPECT_EQ(of_row(segments, 0, "removed"), text("yes"));
  EXPECT_EQ(of_row(segments, 1, "attached_now"), number(3));
  EXPECT_EQ(of_row(segments, 1, "resident"), number(8192));
}

TEST(ShmView, files_in_memory_are_known_when_they_are_mapped) {
  EventScript script("shm", traced());
  const auto truncate = [](std::uint64_t fd, std::uint64_t bytes, std::uint64_t at_ns) {
    return system_call("ftruncate",
                       {.call = SystemCall::Ftruncate, .arguments = {fd, bytes}},
                       0,
                       {.at_ns = at_ns});
  };
  const auto map = [](std::uint64_t fd, std::uint64_t at, std::uint64_t at_ns) {
    return system_call("mmap",
                       {.call = SystemCall::Mmap, .arguments = {0, 8192, 3, 1, fd, 0}},
                       static_cast<std::int64_t>(at),
                       {.at_ns = at_ns});
  };
  script.play(truncate(5, 65536, 1000));  // of /dev/shm/x, as is known later
  script.play(truncate(6, 777, 1100));    // of another file
  play_mapping(script,
               map(5, kPlace, 1200),
               {.start = kPlace, .bytes = 8192, .path = "/dev/shm/x", .flags = 1, .inode = 12});
  play_mapping(
      script,
      map(6, kPlace + 0x10000, 1300),
      {.start = kPlace + 0x10000, .bytes = 8192, .path = "/tmp/y", .flags = 1, .inode = 13});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("ftruncate")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("mmap")}, "count"), number(1));
  const Table& files = report.tables.at(2);
  ASSERT_EQ(files.rows.size(), 1U);
  EXPECT_EQ(of_row(files, 0, "file"), text("/dev/shm/x"));
  EXPECT_EQ(of_row(files, 0, "bytes"), number(65536));
  EXPECT_EQ(of_row(files, 0, "mapped"), number(8192));
  EXPECT_EQ(of_row(script.lines(), 0, "call"), text("ftruncate"));
}

}  // namespace
}  // namespace memtrace::test::shm_view_test
