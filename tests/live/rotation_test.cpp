// Recordings that go to several files one after the other: every event is in exactly one of them,
// each can be read by itself, and all together are what one file would have been.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kMessageFilter = "-e kmem:kmalloc --filter 'bytes_req == 1048' ";

class RotationTest : public LiveTest {
 protected:
  // By their names without a folder, in order.
  std::vector<std::string> files(const std::string& start = "memtrace.data") {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      if (entry.path().filename().string().starts_with(start)) {
        names.push_back(entry.path().filename());
      }
    }
    std::ranges::sort(names);
    return names;
  }

  // Nothing may have happened while a file was written.
  std::uint64_t kmallocs_in(const std::string& file) {
    return run("$MEMTRACE report -i " + file).says("holds no events")
               ? 0
               : own_counts(file)["kmem:kmalloc"];
  }

  // The rows of a report, without figures of time: two recorders have clocked one call.
  std::vector<std::string> rows(const std::string& words, const std::vector<std::string>& figures) {
    const Json made = report(words);
    EXPECT_EQ(lost_in(made), 0U) << words;
    std::vector<std::string> rows;
    for (const Json& row : made.at("tables").at(0).at("rows")) {
      std::string text = row.at("stack").dump();
      for (const std::string& figure : figures) {
        text += " " + row.at(figure).dump();
      }
      rows.push_back(text);
    }
    std::ranges::sort(rows);
    return rows;
  }

  // All of one recording, as one and one by one.
  void expect_all_kmallocs(std::uint64_t count) {
    std::uint64_t sum = 0;
    for (const std::string& file : files()) {
      const std::uint64_t in_file = kmallocs_in(file);
      if (in_file == 0) {
        continue;
      }
      EXPECT_EQ(sum_with_function(report("kmalloc -i " + file), "send_messages"), in_file) << file;
      sum += in_file;
    }
    EXPECT_EQ(sum, count);
    const Json all = report("kmalloc");
    EXPECT_EQ(all.at("totals").at("count"), count);
    EXPECT_EQ(sum_with_function(all, "send_messages"), count);
    EXPECT_EQ(lost_in(all), 0U);
    EXPECT_EQ(all.at("caveats").at("notes").dump().find("not given"), std::string::npos);
  }
};

TEST_F(RotationTest, every_event_is_in_one_file_when_size_rotates) {
  const Outcome outcome = run_well(std::string("$MEMTRACE record --no-compress --max-size 1M ") +
                                   kMessageFilter + "-- $PUPPETS/many_kmallocs 200000");
  ASSERT_GE(files().size(), 3U);
  EXPECT_EQ(files().front(), "memtrace.data.0001");
  EXPECT_TRUE(outcome.says("200000 events, none lost")) << outcome.all();
  EXPECT_TRUE(outcome.says("in memtrace.data.0001 to " + files().back())) << outcome.all();
  expect_all_kmallocs(200'000);
}

TEST_F(RotationTest, every_event_is_in_one_file_when_time_rotates) {
  run_well(std::string("$MEMTRACE record --max-time 100ms ") + kMessageFilter +
           "-- sh -c 'for i in 1 2 3 4 5; do $PUPPETS/many_kmallocs 20000; sleep 0.1; done'");
  ASSERT_GE(files().size(), 4U);
  expect_all_kmallocs(100'000);
}

TEST_F(RotationTest, signal_starts_the_next_file_and_ends_nothing) {
  run_well(std::string("begin $MEMTRACE record --keep 100 ") + kMessageFilter +
           "-- sh -c 'for i in 1 2 3 4 5 6 7 8; do $PUPPETS/many_kmallocs 10000; sleep 0.1; done'\n"
           "for i in 1 2 3; do sleep 0.2; kill -USR2 $RECORDER; done\n"
           "wait $RECORDER");
  EXPECT_EQ(files().size(), 4U);
  expect_all_kmallocs(80'000);
}

TEST_F(RotationTest, perf_reads_each_file) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well(std::string("$MEMTRACE record --no-compress --max-size 2M ") + kMessageFilter +
           "-- $PUPPETS/many_kmallocs 100000");
  ASSERT_GE(files().size(), 2U);
  std::uint64_t sum = 0;
  for (const std::string& file : files()) {
    sum += perf_counts(file)["kmem:kmalloc"];
    EXPECT_EQ(run("perf script -F comm,sym -i " + file + " 2>&1 | grep -c '^:'").out, "0\n")
        << "a sample without its process's name";
    EXPECT_NE(run("perf script -F ip,sym -i " + file + " | grep -m1 -c send_messages").out, "0\n");
  }
  EXPECT_EQ(sum, 100'000U);
}

TEST_F(RotationTest, names_are_in_the_last_file_though_the_program_started_in_the_first) {
  std::filesystem::copy(PUPPETS_FOLDER "/many_kmallocs", dir_.file("short_lived"));
  run_well(std::string("$MEMTRACE record --no-compress --max-size 1M ") + kMessageFilter +
           "-- ./short_lived 200000");
  std::filesystem::remove(dir_.file("short_lived"));
  ASSERT_GE(files().size(), 2U);
  const Json last = report("kmalloc -i " + files().back());
  EXPECT_GT(last.at("totals").at("count"), 0U);
  EXPECT_EQ(sum_with_function(last, "send_messages"), last.at("totals").at("count"));
  const Json by_comm = report("kmalloc --by comm -i " + files().back());
  EXPECT_EQ(figure_of(by_comm, "comm", "short_lived"), last.at("totals").at("count"));
}

TEST_F(RotationTest, keep_leaves_the_newest_files_and_all_others) {
  run_well("echo mine > memtrace.data.0100; echo PERFILE2 > memtrace.data.0001");
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record --no-compress --max-size 1M --keep 2 ") +
               kMessageFilter + "-- $PUPPETS/many_kmallocs 200000");
  const std::vector<std::string> left = files();
  ASSERT_EQ(left.size(), 4U) << outcome.all();
  EXPECT_EQ(left.at(0), "memtrace.data.0001.old");
  EXPECT_EQ(left.at(3), "memtrace.data.0100");
  EXPECT_TRUE(outcome.says("in " + left.at(1) + " to " + left.at(2) + " and ")) << outcome.all();
  EXPECT_TRUE(outcome.says("that --keep has removed")) << outcome.all();
  EXPECT_EQ(run("cat memtrace.data.0100").out, "mine\n");
  const Json two = report("kmalloc -i " + left.at(1) + "," + left.at(2));
  EXPECT_EQ(two.at("totals").at("count"), kmallocs_in(left.at(1)) + kmallocs_in(left.at(2)));
}

// Both recorders see the same calls; the blocks that one thread allocates in one file are freed by
// another in the next.
TEST_F(RotationTest, files_together_report_what_one_file_does) {
  run_well(
      "mkfifo go; sh -c 'read word <go; exec $PUPPETS/heap_storm 4 40000' & TARGET=$!\n"
      "begin $MEMTRACE record -o whole --for leaks -p $TARGET; FIRST=$RECORDER\n"
      "begin $MEMTRACE record -o part --max-size 512K --for leaks -p $TARGET\n"
      "echo go >go; wait $FIRST && wait $RECORDER");
  ASSERT_GE(files("part.").size(), 3U);
  for (const char* view : {"leaks", "malloc"}) {
    const Json whole = report(std::string(view) + " -i whole");
    const Json part = report(std::string(view) + " -i part");
    EXPECT_EQ(part.at("totals").at("count"), whole.at("totals").at("count")) << view;
    EXPECT_EQ(part.at("totals").at("bytes"), whole.at("totals").at("bytes")) << view;
    EXPECT_EQ(part.at("caveats").at("unmatched"), whole.at("caveats").at("unmatched")) << view;
    const std::string words = std::string(view) + " --top 0 -i ";
    EXPECT_EQ(rows(words + "part", {"count", "bytes"}), rows(words + "whole", {"count", "bytes"}));
  }
  const Json leaks = report("leaks --by size --top 0 -i part");
  for (std::uint64_t number = 0; number < 4; ++number) {
    EXPECT_EQ(figure_of(leaks, "size", 1000 + number), 10U) << number;
  }
}

// Processes and mappings come and go across the cuts.
TEST_F(RotationTest, files_together_know_mappings_as_one_file_does) {
  run_well(
      "mkfifo go; sh -c 'read word <go; for i in 1 2 3 4; do $PUPPETS/map_patterns; "
      "$PUPPETS/touch_pages 100; sleep 0.1; done' >/dev/null & TARGET=$!\n"
      "begin $MEMTRACE record -o whole --for mmap,anon,brk,pages -p $TARGET; FIRST=$RECORDER\n"
      "begin $MEMTRACE record -o part --max-time 150ms --for mmap,anon,brk,pages -p $TARGET\n"
      "echo go >go; wait $FIRST && wait $RECORDER");
  ASSERT_GE(files("part.").size(), 3U);
  if (lost_in(report("-i whole")) + lost_in(report("-i part")) > 0) {
    GTEST_SKIP() << "events were lost: the machine is too busy";
  }
  for (const char* view : {"mmap", "anon", "brk", "pages"}) {
    const std::string words = std::string("$MEMTRACE report --format csv --top 0 ") + view + " -i ";
    EXPECT_EQ(run_well(words + "part").out, run_well(words + "whole").out) << view;
  }
}

TEST_F(RotationTest, file_of_the_middle_says_what_it_cannot_know) {
  run_well(
      "$MEMTRACE record --no-compress --max-size 512K --for leaks -- $PUPPETS/heap_storm 2 20000");
  ASSERT_GE(files().size(), 3U);
  const Json second = report("leaks -i memtrace.data.0002");
  EXPECT_NE(second.at("caveats").at("notes").dump().find("began 1 file earlier"),
            std::string::npos);
  const Json gap = report("leaks -i memtrace.data.0001 -i memtrace.data.0003");
  EXPECT_NE(gap.at("caveats").at("notes").dump().find("1 file of the recording between"),
            std::string::npos);
}

// SIGKILL leaves the last file without its end.
TEST_F(RotationTest, killed_recorder_leaves_files_that_can_be_read) {
  run(std::string("begin $MEMTRACE record --max-time 300ms -a ") + kMessageFilter +
      "\n$PUPPETS/many_kmallocs 20000; sleep 0.5; $PUPPETS/many_kmallocs 20000; sleep 1.2\n"
      "$PUPPETS/many_kmallocs 10; kill -KILL $RECORDER; wait $RECORDER");
  ASSERT_GE(files().size(), 3U);
  const Json all = report("kmalloc");
  EXPECT_GE(all.at("totals").at("count"), 40'000U);
  EXPECT_NE(all.at("caveats").at("notes").dump().find("was killed before"), std::string::npos);
}

TEST_F(RotationTest, next_file_that_cannot_be_made_is_told_and_the_recording_goes_on) {
  run_well("mkdir memtrace.data.0002");
  // What is read after the command's end goes into the file that there is.
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record --no-compress --max-size 256K ") + kMessageFilter +
               "-- sh -c '$PUPPETS/many_kmallocs 49990; sleep 0.5; $PUPPETS/many_kmallocs 10'");
  EXPECT_TRUE(outcome.says("the recording goes on in the same file: memtrace.data.0002 is a "))
      << outcome.all();
  EXPECT_EQ(kmallocs_in("memtrace.data.0001"), 50'000U);
}

}  // namespace
}  // namespace memtrace::test
