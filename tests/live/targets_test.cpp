// Whom a recording watches, how it ends, and what it leaves behind.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kOnlyMessages = "-e kmem:kmalloc --filter 'bytes_req == 1048' ";

class TargetsTest : public LiveTest {
 protected:
  // `crowd 100` between its line and its end, watched with these words, of which PID is its pid.
  std::uint64_t messages_of_crowd(const std::string& words) {
    run_well("mkfifo go");
    const auto crowd = start("exec $PUPPETS/crowd 100 < go");
    std::ofstream go(dir_.file("go"));  // opens when crowd has opened its end
    EXPECT_TRUE(wait_until([&] { return !crowd->out().empty(); }));
    const auto memtrace = start_recording("PID=" + std::to_string(crowd->pid()) +
                                          "; exec $MEMTRACE record " + kOnlyMessages + words);
    go << "go\n" << std::flush;
    EXPECT_EQ(crowd->wait().status, 0);
    const Outcome outcome = memtrace->wait();  // ends as its target does
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    return report("kmalloc").at("totals").at("count");
  }

  void expect_both_read(const std::string& file) {
    EXPECT_FALSE(own_counts(file).empty());
    if (run("perf version").status == 0) {
      EXPECT_EQ(own_counts(file), perf_counts(file));
    }
  }

  void expect_whole_after(int signal) {
    const auto memtrace = start_recording("exec $MEMTRACE record -a -e kmem:kmalloc");
    run_well("$PUPPETS/many_kmallocs 300");
    memtrace->signal(signal);
    const Outcome outcome = memtrace->wait();
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    EXPECT_TRUE(outcome.says("none lost")) << outcome.all();
    expect_both_read("memtrace.data");
    EXPECT_GE(sum_with_function(report("kmalloc --top 0"), "send_messages"), 300U);
  }
};

TEST_F(TargetsTest, who_can_have_no_events_is_named) {
  const Outcome kernel_thread = run("$MEMTRACE record -d 0.1 -e page-faults -p 2");
  EXPECT_TRUE(kernel_thread.says("2 is a kernel thread")) << kernel_thread.all();
  EXPECT_EQ(run("$MEMTRACE record -d 0.1 --for malloc -p 2").status, 1);
  const Outcome zombie =
      run("sh -c 'sleep 0.1 & echo $! > ended; exec sleep 5' & parent=$!; sleep 0.3; "
          "$MEMTRACE record -d 0.1 -e page-faults -p $(cat ended); kill $parent");
  EXPECT_TRUE(zombie.says("has ended, and its parent has not waited")) << zombie.all();
  const Outcome nobody = run("$MEMTRACE record -d 0.1 -e page-faults -p ''");
  EXPECT_EQ(nobody.status, 2) << nobody.all();
}

// A copy of the puppet that belongs to nobody, and becomes nobody's when root executes it.
TEST_F(TargetsTest, a_set_user_id_program_is_told) {
  run_well(
      "cp $PUPPETS/many_kmallocs other && chown nobody other && chmod 4755 other && chmod 755 .");
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- ./other 50");
  EXPECT_TRUE(outcome.says("set-user-ID or set-group-ID program")) << outcome.all();
  EXPECT_TRUE(outcome.says("(other)")) << outcome.all();
  const Outcome report = run("$MEMTRACE report");
  EXPECT_TRUE(report.says("set-user-ID or set-group-ID program")) << report.all();
  const Outcome live =
      run_well(std::string("$MEMTRACE kmalloc ") + kOnlyMessages + "-- ./other 50");
  EXPECT_NE(live.out.find("set-user-ID"), std::string::npos) << live.all();
  // As a child that somebody else's program starts.
  run_well("cp $PUPPETS/many_kmallocs roots && chmod 4755 roots");
  const Outcome child = run_well(std::string("$MEMTRACE record ") + kOnlyMessages +
                                 "-- setpriv --reuid=nobody --clear-groups "
                                 "sh -c './roots 50; true'");
  EXPECT_TRUE(child.says("(roots)")) << child.all();
}

TEST_F(TargetsTest, the_whole_machine_has_set_user_id_programs_too) {
  run_well(
      "cp $PUPPETS/many_kmallocs other && chown nobody other && chmod 4755 other && chmod 755 .");
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record -a ") + kOnlyMessages + "-- ./other 50");
  EXPECT_FALSE(outcome.says("set-user-ID or set-group-ID program")) << outcome.all();
  EXPECT_EQ(report("kmalloc --comm other").at("totals").at("count"), 50U);
}

// What root executes of its own, and what it may not see being changed by, stays watched.
TEST_F(TargetsTest, a_set_user_id_program_of_the_same_user_is_recorded) {
  run_well("cp $PUPPETS/many_kmallocs own && chmod 4755 own");
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- ./own 50");
  EXPECT_FALSE(outcome.says("set-user-ID or set-group-ID program")) << outcome.all();
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 50U);
}

// It may end before memtrace has found it, before it has attached, or after that.
TEST_F(TargetsTest, an_attach_that_comes_too_late_says_so) {
  for (const char* seconds : {"0.05", "0.2", "0.4"}) {
    const Outcome outcome =
        run(std::string("sleep ") + seconds + " & $MEMTRACE record " + kOnlyMessages + "-p $!");
    EXPECT_TRUE(outcome.says("had ended before all events") || outcome.says("has ended") ||
                outcome.says("No such process") ||
                outcome.says("none of the events happened in the target"))
        << outcome.all();
  }
}

TEST_F(TargetsTest, a_recording_without_events_says_why) {
  const Outcome outcome = run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- true");
  EXPECT_TRUE(outcome.says("none of the events happened in the target")) << outcome.all();
}

// A note on something else, here that oom:mark_victim has no such field, is no reason.
TEST_F(TargetsTest, a_recording_without_events_says_why_beside_other_notes) {
  const Outcome outcome =
      run_well(std::string("$MEMTRACE record -e oom:mark_victim ") + kOnlyMessages + "-- true");
  EXPECT_TRUE(outcome.says("oom:mark_victim")) << outcome.all();
  EXPECT_TRUE(outcome.says("0 events, none lost")) << outcome.all();
  EXPECT_TRUE(outcome.says("none of the events happened in the target")) << outcome.all();
}

TEST_F(TargetsTest, pid_covers_all_threads_and_what_they_start) {
  EXPECT_EQ(messages_of_crowd("-p $PID"), 500U);
}

TEST_F(TargetsTest, tid_covers_that_thread_alone) {
  EXPECT_EQ(messages_of_crowd("-t $PID"), 100U);
}

TEST_F(TargetsTest, pid_given_twice_counts_once) {
  EXPECT_EQ(messages_of_crowd("-p $PID,$PID"), 500U);
}

TEST_F(TargetsTest, start_that_fails_leaves_the_last_recording_alone) {
  run_well("$MEMTRACE record -e kmem:kmalloc -- $PUPPETS/many_kmallocs 10");
  const std::string before = run_well("md5sum memtrace.data").out;
  EXPECT_EQ(run("$MEMTRACE record -- ./nosuchcommand").status, 1);
  EXPECT_EQ(run("$MEMTRACE record -- ./nosuchcommand").status, 1);
  EXPECT_EQ(run_well("md5sum memtrace.data").out, before);
}

TEST_F(TargetsTest, duration_ends_a_system_wide_recording) {
  const auto begin = std::chrono::steady_clock::now();
  run_well("begin $MEMTRACE record -a -d 1 -e kmem:kmalloc; $PUPPETS/many_kmallocs 300; wait");
  const auto lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(lasted, std::chrono::seconds(1));
  EXPECT_LT(lasted, std::chrono::seconds(10));
  EXPECT_GE(sum_with_function(report("kmalloc --top 0"), "send_messages"), 300U);
}

TEST_F(TargetsTest, system_wide_recording_lasts_as_long_as_its_command) {
  run_well(std::string("$MEMTRACE record -a ") + kOnlyMessages + "-- $PUPPETS/many_kmallocs 300");
  EXPECT_EQ(figure_of(report("kmalloc --by comm"), "comm", "many_kmallocs"), 300U);
}

TEST_F(TargetsTest, children_of_a_command_are_followed_through_fork_and_exec) {
  run_well(std::string("$MEMTRACE record ") + kOnlyMessages +
           "-- sh -c '(sh -c \"$PUPPETS/many_kmallocs 30; true\"; true) & "
           "$PUPPETS/many_kmallocs 50; wait'");
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 80U);
}

TEST_F(TargetsTest, exit_status_of_the_command_is_passed_on) {
  EXPECT_EQ(run("$MEMTRACE record -- sh -c 'exit 3'").status, 3);
  EXPECT_EQ(run("$MEMTRACE record -- sh -c 'kill -9 $$'").status, 128 + SIGKILL);
  EXPECT_EQ(run("$MEMTRACE kmalloc -- sh -c 'exit 3'").status, 3);
}

TEST_F(TargetsTest, command_that_cannot_be_found_is_named) {
  const Outcome outcome = run("$MEMTRACE record -- no-such-command");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("cannot run 'no-such-command': No such file or directory"))
      << outcome.all();
  EXPECT_TRUE(outcome.says("hint: ")) << outcome.all();
}

TEST_F(TargetsTest, process_that_does_not_exist_is_named) {
  for (const char* words : {"-p 4194305", "-t 4194305"}) {
    const Outcome outcome = run(std::string("$MEMTRACE record ") + words);
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_TRUE(outcome.says("4194305: No such process")) << outcome.all();
    EXPECT_TRUE(outcome.says("hint: ")) << outcome.all();
  }
}

TEST_F(TargetsTest, interrupt_finishes_the_file) {
  expect_whole_after(SIGINT);
}

TEST_F(TargetsTest, termination_finishes_the_file) {
  expect_whole_after(SIGTERM);
}

// The file's header says nothing yet of its data; what had been written by then is there.
TEST_F(TargetsTest, killed_recorder_leaves_a_file_that_can_be_read) {
  const auto memtrace = start_recording("exec $MEMTRACE record -a -e kmem:kmalloc");
  run_well("$PUPPETS/many_kmallocs 40000");
  EXPECT_TRUE(wait_until([&] {
    std::error_code none_yet;
    return std::filesystem::file_size(dir_.file("memtrace.data"), none_yet) > 100'000 && !none_yet;
  }));
  memtrace->signal(SIGKILL);
  EXPECT_EQ(memtrace->wait().status, 128 + SIGKILL);
  const Json kmalloc = report("kmalloc --top 0");
  EXPECT_GT(kmalloc.at("totals").at("count"), 1000U);
  EXPECT_NE(kmalloc.at("caveats").at("notes").dump().find("killed"), std::string::npos)
      << kmalloc.at("caveats").dump(1);
}

TEST_F(TargetsTest, live_view_ends_after_its_count_of_tables) {
  const Outcome live = run_well(
      "begin $MEMTRACE kmalloc -a --format json --by comm 0.2 3; "
      "$PUPPETS/many_kmallocs 100; wait $RECORDER");
  EXPECT_EQ(std::count(live.out.begin(), live.out.end(), '\n'), 4)
      << "3 tables, 1 line of puppet's";
}

// A view, and an alias of one, watch the whole machine where nothing else is said.
TEST_F(TargetsTest, views_of_the_kernel_need_no_target) {
  for (const char* name : {"kmalloc", "kmalloc-top"}) {
    const auto memtrace =
        start_recording(std::string("exec $MEMTRACE ") + name + " --format json --by comm 100");
    run_well("$PUPPETS/many_kmallocs 300");
    memtrace->signal(SIGINT);
    const Outcome outcome = memtrace->wait();
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    EXPECT_GE(figure_of(Json::parse(outcome.out), "comm", "many_kmallocs"), 300U);
  }
}

// As bcc's memleak without -p; nobody's malloc is probed.
TEST_F(TargetsTest, memleak_without_a_process_is_of_the_kernel) {
  const Outcome outcome = run_well("$MEMTRACE memleak --format json 0.3 1");
  EXPECT_TRUE(outcome.says("memleak without a target shows the kernel's memory: kleaks"))
      << outcome.all();
  EXPECT_EQ(Json::parse(outcome.out).at("view"), "kleaks");
}

// Probes functions of our own, which slows nobody down.
TEST_F(TargetsTest, calls_of_all_processes_are_counted_before_they_are_recorded) {
  const auto caller = start("exec $PUPPETS/busy_threads 2 300");
  const std::string tasks = "/proc/" + std::to_string(caller->pid()) + "/task";
  ASSERT_TRUE(wait_until([&] {
    std::error_code gone;
    const std::filesystem::directory_iterator all(tasks, gone);
    return !gone && std::distance(begin(all), end(all)) == 3;
  }));
  const std::string calls = "-e uprobe:$PUPPETS/busy_threads:take_busily --format json 1 1";
  const Outcome refused = run("$MEMTRACE calls -a " + calls);
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.says("this sets probes on the code of every process")) << refused.all();
  EXPECT_TRUE(refused.says("times a second (counted for 1.0 s)")) << refused.all();
  EXPECT_FALSE(refused.says("hit the probes 0 times")) << refused.all();
  EXPECT_TRUE(refused.says("give --yes-all-processes")) << refused.all();
  const Outcome outcome = run_well("$MEMTRACE calls --yes-all-processes " + calls);
  EXPECT_TRUE(outcome.says("times a second (counted for 1.0 s)")) << outcome.all();
  EXPECT_FALSE(outcome.says("hit the probes 0 times")) << outcome.all();
  EXPECT_GE(Json::parse(outcome.out).at("totals").at("count"), 1U);
  const Outcome limited =
      run_well("$MEMTRACE calls --yes-all-processes --max-overhead 50% " + calls);
  EXPECT_FALSE(limited.says("times a second (counted for")) << limited.all();
}

// Probes of one kind are one event of the kernel's: a hit is one hit, however many share it.
TEST_F(TargetsTest, calls_of_an_allocator_are_not_counted_once_for_each_probe) {
  if (!std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
    GTEST_SKIP() << "no uprobe_events here";
  }
  const auto caller = start("exec $PUPPETS/busy_threads 2 300");
  const Outcome outcome = run_well("$MEMTRACE malloc --all-processes --format json --by comm 1 1");
  const std::string words = outcome.err.substr(outcome.err.find("hit the probes ") + 15);
  const std::uint64_t told = std::stoull(words);
  const std::uint64_t counted = Json::parse(outcome.out).at("totals").at("count");
  ASSERT_GT(counted, 1000U) << outcome.all();
  // Another second of the same busy threads, and of other processes that allocate.
  EXPECT_LT(told, 3 * counted) << outcome.all();
}

TEST_F(TargetsTest, interrupted_live_view_prints_a_last_table) {
  const auto memtrace = start_recording("exec $MEMTRACE kmalloc -a --format json --by comm 100");
  run_well("$PUPPETS/many_kmallocs 300");
  memtrace->signal(SIGINT);
  const Outcome outcome = memtrace->wait();
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_GE(figure_of(Json::parse(outcome.out), "comm", "many_kmallocs"), 300U);
}

TEST_F(TargetsTest, no_child_is_left_when_memtrace_is_terminated) {
  const auto memtrace = start_recording("exec $MEMTRACE record -- sleep 98.7654321");
  memtrace->signal(SIGTERM);
  memtrace->wait();
  const auto sleeps = [this] { return run("pgrep -f 'sleep [9]8.7654321'").out; };
  EXPECT_TRUE(wait_until([&] { return sleeps().empty(); })) << sleeps();
}

TEST_F(TargetsTest, command_never_runs_when_memtrace_fails_before_it) {
  // The command waits for memtrace; when memtrace fails, it must never have run.
  EXPECT_EQ(run("$MEMTRACE record -e kmem:kmalloc --filter 'nosuch > 1' -- touch ran").status, 2);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("ran")));
}

TEST_F(TargetsTest, existing_file_is_kept_as_old) {
  run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- $PUPPETS/many_kmallocs 11");
  run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- $PUPPETS/many_kmallocs 22");
  EXPECT_EQ(report("kmalloc -i memtrace.data.old").at("totals").at("count"), 11U);
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 22U);
}

TEST_F(TargetsTest, existing_file_stays_when_a_recording_cannot_start) {
  run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- $PUPPETS/many_kmallocs 11");
  EXPECT_EQ(run("$MEMTRACE record -- no-such-command").status, 1);
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 11U);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("memtrace.data.old")));
}

TEST_F(TargetsTest, output_of_the_command_does_not_get_into_the_pipe) {
  const Json kmalloc = json_of(
      "$MEMTRACE record -o - -e kmem:kmalloc -- $PUPPETS/many_kmallocs 10"
      " | $MEMTRACE report kmalloc --format json -i -");
  EXPECT_TRUE(kmalloc.at("caveats").at("notes").empty()) << kmalloc.at("caveats").dump(1);
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages"), 10U);
}

TEST_F(TargetsTest, tracefs_is_left_as_it_was) {
  const std::string state =
      "cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/events/enable; "
      "cat /sys/kernel/tracing/events/kmem/kmalloc/filter; cat /proc/mounts";
  const std::string before = run(state).out;
  run_well(std::string("$MEMTRACE record ") + kOnlyMessages + "-- $PUPPETS/many_kmallocs 1");
  EXPECT_EQ(run(state).out, before);
}

}  // namespace
}  // namespace memtrace::test
