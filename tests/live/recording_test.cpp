// What stands in a recording: what was asked for, stacks without gaps, names that stay.
#include <cmath>
#include <filesystem>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kMessagesOnly = "-e kmem:kmalloc --filter 'bytes_req == 1048' ";

using RecordingTest = LiveTest;

TEST_F(RecordingTest, filter_is_applied_by_the_kernel) {
  run_well(std::string("$MEMTRACE record ") + kMessagesOnly + "-- $PUPPETS/many_kmallocs 120");
  EXPECT_EQ(own_counts("memtrace.data"), (EventCounts{{"kmem:kmalloc", 120}}));
}

// script(1) gives its command a terminal.
TEST_F(RecordingTest, terminal_shows_a_line_that_changes_once_a_second) {
  // Of a process that sleeps: a busy machine may lose events.
  const Outcome outcome = run_well(
      "sleep 9 & p=$!; "
      "script -qefc \"$MEMTRACE record -p $p -d 3 -e minor-faults\" /dev/null </dev/null; "
      "status=$?; kill $p; exit $status");
  const std::string all = outcome.all();
  EXPECT_NE(all.find("\r\x1b[K1 s  "), std::string::npos) << all;
  EXPECT_NE(all.find(" events/s  none lost  "), std::string::npos) << all;
  EXPECT_NE(all.find(" MiB of memory\r"), std::string::npos) << all;
  EXPECT_NE(all.find("\r\x1b[Kmemtrace: "), std::string::npos) << "it is gone at the end: " << all;
  const Outcome piped = run_well("$MEMTRACE record -a -d 2 -e minor-faults");
  EXPECT_EQ(piped.all().find("events/s"), std::string::npos) << piped.all();
}

TEST_F(RecordingTest, filter_that_the_kernel_refuses_is_a_usage_error) {
  const Outcome outcome = run("$MEMTRACE record -e kmem:kmalloc --filter 'nosuch > 3' -- true");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.says("filter 'nosuch > 3': no event that is recorded has a field 'nosuch'"))
      << outcome.all();
  EXPECT_TRUE(outcome.says("hint: fields are ")) << outcome.all();
}

TEST_F(RecordingTest, filter_is_for_the_events_that_have_its_fields_and_the_others_are_named) {
  const Outcome outcome = run_well(
      "$MEMTRACE record -e kmem:kmalloc,kmem:kfree,minor-faults --filter 'bytes_req == 1048' -- "
      "$PUPPETS/many_kmallocs 120");
  const char* note = "lack its fields: kmem:kfree, minor-faults";
  EXPECT_TRUE(outcome.says(note)) << outcome.all();
  const EventCounts counts = own_counts("memtrace.data");
  EXPECT_EQ(counts.at("kmem:kmalloc"), 120U);
  EXPECT_GT(counts.at("kmem:kfree"), 120U);
  EXPECT_GT(counts.at("minor-faults"), 0U);
  EXPECT_NE(report("kmalloc").at("caveats").at("notes").dump().find(note), std::string::npos);
}

TEST_F(RecordingTest, events_of_a_pattern_that_cannot_be_opened_are_left_out_and_told) {
  const std::string words = " -e 'ftrace:*,kmem:kmalloc' -- $PUPPETS/many_kmallocs 10";
  const Outcome outcome = run_well("$MEMTRACE record" + words);
  EXPECT_TRUE(outcome.says("not recorded, because they cannot be opened: ftrace:"))
      << outcome.all();
  EXPECT_GE(own_counts("memtrace.data")["kmem:kmalloc"], 10U);
  const Outcome named = run("$MEMTRACE record -e ftrace:function,kmem:kmalloc -- true");
  EXPECT_EQ(named.status, 1) << "what was named must be had";
  const Outcome none = run("$MEMTRACE record -e 'ftrace:functio?' -- true");
  EXPECT_EQ(none.status, 1) << "something must be left";
  EXPECT_TRUE(none.says("perf_event_open(ftrace:function)")) << none.all();
}

// One period may be under way on each CPU and in each inherited event when the recording ends.
TEST_F(RecordingTest, period_delivers_one_in_n) {
  run_well(std::string("$MEMTRACE record --period 10 ") + kMessagesOnly +
           "-- $PUPPETS/many_kmallocs 2000");
  const auto samples = own_counts("memtrace.data")["kmem:kmalloc"];
  EXPECT_LE(samples, 200U);
  EXPECT_GE(samples + static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN)), 200U);
  const Json kmalloc = report("kmalloc");
  EXPECT_EQ(kmalloc.at("totals").at("count"), samples * 10) << "figures are scaled by N";
  EXPECT_NE(kmalloc.at("caveats").at("notes").dump().find("one in N"), std::string::npos);
}

TEST_F(RecordingTest, period_agrees_with_what_perf_stat_counts) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const Outcome stat = run_well(
      "perf stat -x, -e kmem:kmalloc --filter 'bytes_req == 1048' -- "
      "$PUPPETS/many_kmallocs 2100 2>&1 >/dev/null");
  run_well(std::string("$MEMTRACE record --period 100 ") + kMessagesOnly +
           "-- $PUPPETS/many_kmallocs 2100");
  const auto samples = static_cast<double>(own_counts("memtrace.data")["kmem:kmalloc"]);
  EXPECT_NEAR(samples, std::floor(std::stod(stat.out) / 100), 1);
}

TEST_F(RecordingTest, names_outlive_the_program) {
  std::filesystem::copy(PUPPETS_FOLDER "/many_kmallocs", dir_.file("short_lived"));
  run_well(std::string("$MEMTRACE record ") + kMessagesOnly + "-- ./short_lived 70");
  std::filesystem::remove(dir_.file("short_lived"));
  EXPECT_EQ(sum_with_function(report("kmalloc"), "send_messages"), 70U);
}

TEST_F(RecordingTest, names_are_left_out_when_asked) {
  std::filesystem::copy(PUPPETS_FOLDER "/many_kmallocs", dir_.file("short_lived"));
  run_well(std::string("$MEMTRACE record --no-symbols ") + kMessagesOnly + "-- ./short_lived 70");
  std::filesystem::remove(dir_.file("short_lived"));
  const Json kmalloc = report("kmalloc");
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages"), 0U);
  EXPECT_EQ(sum_with_function(kmalloc, "short_lived+0x"), 70U);
}

// msgsnd <- store_bytes <- main, in every sample. perf's own frame-pointer chain lacks store_bytes.
TEST_F(RecordingTest, caller_of_a_libc_stub_is_put_back) {
  run_well(std::string("$MEMTRACE record ") + kMessagesOnly + "-- $PUPPETS/libc_calls 90");
  const Json kmalloc = report("kmalloc --user");
  EXPECT_EQ(kmalloc.at("totals").at("count"), 90U);
  EXPECT_EQ(sum_with_function(kmalloc, "store_bytes"), 90U);
  const Json stack = kmalloc.at("tables").at(0).at("rows").at(0).at("stack");
  EXPECT_TRUE(stack.size() >= 3 && begins_with(stack.at(1), "store_bytes") &&
              begins_with(stack.at(2), "main"))
      << stack.dump();
}

TEST_F(RecordingTest, caller_that_was_put_back_is_in_the_file_for_perf_too) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well(std::string("$MEMTRACE record ") + kMessagesOnly + "-- $PUPPETS/libc_calls 90");
  EXPECT_EQ(run("perf script -F ip,sym -i memtrace.data | grep -c store_bytes").out, "90\n");
  run_well(std::string("perf record -q --call-graph fp -o perf.data ") + kMessagesOnly +
           "-- $PUPPETS/libc_calls 90");
  EXPECT_EQ(run("perf script -F ip,sym -i perf.data | grep -c store_bytes").out, "0\n")
      << "the chain is whole without us: libc_calls shows nothing";
}

TEST_F(RecordingTest, kernel_and_user_parts_are_recorded_alone_when_asked) {
  const std::string work = std::string(kMessagesOnly) + "-- $PUPPETS/many_kmallocs 40";
  run_well("$MEMTRACE record --kernel " + work);
  EXPECT_EQ(sum_with_function(report("kmalloc"), "load_msg"), 40U);
  EXPECT_EQ(sum_with_function(report("kmalloc"), "send_messages"), 0U);
  run_well("$MEMTRACE record --user " + work);
  EXPECT_EQ(sum_with_function(report("kmalloc"), "load_msg"), 0U);
  EXPECT_EQ(sum_with_function(report("kmalloc"), "send_messages"), 40U);
}

TEST_F(RecordingTest, facts_of_the_machine_are_in_the_file) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well(std::string("$MEMTRACE record ") + kMessagesOnly + "-- $PUPPETS/many_kmallocs 1");
  const std::string header = run_well("perf report --header-only -i memtrace.data").out;
  const std::string release = run_well("uname -r").out;
  const std::string host = run_well("uname -n").out;
  for (const std::string& part : {"os release : " + release,
                                  "hostname : " + host,
                                  std::string("nrcpus online : "),
                                  std::string("cmdline : memtrace record -e kmem:kmalloc"),
                                  std::string("event : name = kmem:kmalloc"),
                                  std::string("time of first sample")}) {
    EXPECT_NE(header.find(part), std::string::npos) << part << "\nin\n" << header;
  }
  EXPECT_NE(run_well("perf buildid-list -i memtrace.data").out.find("puppets/many_kmallocs"),
            std::string::npos);
}

TEST_F(RecordingTest, default_events_are_recorded_without_a_word_about_events) {
  run_well("$MEMTRACE record -- $PUPPETS/many_kmallocs 100");
  const EventCounts counts = own_counts("memtrace.data");
  for (const char* event : {"kmem:kmalloc", "kmem:mm_page_alloc", "exceptions:page_fault_user"}) {
    EXPECT_TRUE(counts.contains(event)) << event;
  }
}

TEST_F(RecordingTest, unknown_event_is_refused_with_the_nearest_names) {
  const Outcome outcome = run("$MEMTRACE record -e kmem:kmaloc -- true");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.says("kmem:kmalloc")) << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
