// Attaching to a process and letting go of it: quickly, at one moment, and without a trace.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

using Clock = std::chrono::steady_clock;

class AttachTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
      GTEST_SKIP() << "no uprobe_events here";
    }
  }

  std::unique_ptr<Background> start(const std::string& script) {
    return std::make_unique<Background>(script, dir_.path(), environment());
  }

  static std::string probes_of(const Background& memtrace) {
    std::istringstream lines(text_of("/sys/kernel/tracing/uprobe_events"));
    const std::string group = "memtrace_heap_" + std::to_string(memtrace.pid()) + "/";
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      found += line.find(group) != std::string::npos ? line + "\n" : "";
    }
    return found;
  }

  static std::string comm_of(const Background& process) {
    std::string comm;
    std::istringstream(text_of("/proc/" + std::to_string(process.pid()) + "/comm")) >> comm;
    return comm;
  }

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

// What the rings hold waits for the main thread, which sorts and writes it: at nice 0 a busy
// program of 200 threads leaves it a hundredth of a CPU.
TEST_F(AttachTest, the_recorder_is_hurried_and_the_command_is_not) {
  const auto memtrace =
      start("exec $MEMTRACE record --for malloc -- sh -c 'echo $$ >pid; exec sleep 60'");
  pid_t command = 0;
  EXPECT_TRUE(wait_until([&] {
    std::istringstream(text_of(dir_.file("pid"))) >> command;
    return command != 0;
  })) << memtrace->err();
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(memtrace->pid())), -20);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(command)),
            ::getpriority(PRIO_PROCESS, 0));
  memtrace->signal(SIGTERM);
  memtrace->wait();
}

// Opening is hundreds of short system calls: between 200 busy threads each of them waited for its
// turn, and all together a minute.
TEST_F(AttachTest, many_busy_threads_are_attached_to_in_seconds) {
  const auto threads = start("exec $PUPPETS/busy_threads 200 60");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = Clock::now();
  const auto memtrace =
      start("exec $MEMTRACE record --for leaks -p " + std::to_string(threads->pid()));
  const std::string tasks = "/proc/" + std::to_string(memtrace->pid()) + "/task";
  const auto count = [&tasks] {
    std::error_code gone;
    const std::filesystem::directory_iterator all(tasks, gone);
    return gone ? 0 : std::distance(std::filesystem::begin(all), std::filesystem::end(all));
  };
  // One reader for each CPU beside the main thread: all events are open.
  EXPECT_TRUE(wait_until([&] { return count() > ::sysconf(_SC_NPROCESSORS_ONLN); }))
      << memtrace->err();
  EXPECT_LT(seconds_since(begin), 20.0) << "it took a minute without its priority";
  std::this_thread::sleep_for(std::chrono::seconds(2));
  memtrace->signal(SIGTERM);
  EXPECT_TRUE(wait_until([&] { return probes_of(*memtrace).empty(); }, std::chrono::seconds(30)))
      << "the probes slow the threads down until they are gone";
  EXPECT_EQ(memtrace->wait().status, 0) << memtrace->err();
  threads->signal(SIGKILL);
  threads->wait();
}

TEST_F(AttachTest, all_probes_of_an_allocator_are_removed_at_the_end) {
  const auto memtrace = start("exec $MEMTRACE record --for leaks -- sleep 60");
  EXPECT_TRUE(wait_until([&] { return !probes_of(*memtrace).empty(); })) << memtrace->err();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  memtrace->signal(SIGTERM);
  memtrace->wait();
  EXPECT_EQ(probes_of(*memtrace), "");
}

// The kernel takes as long to remove one event as one that is many probes: with and without stacks,
// and returns.
TEST_F(AttachTest, all_probes_of_glibc_are_three_events) {
  const auto memtrace = start("exec $MEMTRACE record --for leaks -- sleep 60");
  EXPECT_TRUE(wait_until([&] { return !probes_of(*memtrace).empty(); })) << memtrace->err();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  std::istringstream lines(probes_of(*memtrace));
  std::set<std::string> events;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find('/') + 1;
    events.insert(line.substr(start, line.find(' ') - start));
  }
  memtrace->signal(SIGTERM);
  memtrace->wait();
  if (!events.contains("shared")) {
    GTEST_SKIP() << "one event cannot be several probes before Linux 5.4";
  }
  EXPECT_LE(events.size(), 3U) << testing::PrintToString(events);
}

TEST_F(AttachTest, signals_while_probes_are_removed_leave_none_behind) {
  for (const int second : {SIGTERM, SIGINT, SIGQUIT, SIGUSR1}) {
    const auto target = start("exec $PUPPETS/busy_threads 1 60");
    const auto memtrace =
        start("exec $MEMTRACE malloc 1 -p " + std::to_string(target->pid()) + " >out 2>&1");
    EXPECT_TRUE(wait_until([&] { return !probes_of(*memtrace).empty(); })) << memtrace->err();
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    memtrace->signal(SIGTERM);
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      memtrace->signal(second);
    }
    EXPECT_EQ(memtrace->wait().status, 0) << text_of(dir_.file("out"));
    EXPECT_EQ(probes_of(*memtrace), "") << strsignal(second);
    target->signal(SIGKILL);
    target->wait();
  }
}

// After execve(2) a process has its program and the dynamic loader, and no library yet.
TEST_F(AttachTest, process_that_begins_a_program_is_looked_at_until_it_has_its_libraries) {
  const auto target = start("exec $PUPPETS/exec_later 150 $PUPPETS/busy_threads 1 60");
  EXPECT_TRUE(wait_until([&] { return comm_of(*target) == "exec_later"; }));
  run_well("$MEMTRACE record --for malloc --dry-run -p " + std::to_string(target->pid()));
  target->signal(SIGKILL);
  target->wait();
}

TEST_F(AttachTest, second_signal_ends_the_naming_and_keeps_the_recording) {
  const auto target = start("exec $PUPPETS/busy_threads 1 60");
  const auto memtrace =
      start("exec $MEMTRACE record --for malloc -p " + std::to_string(target->pid()));
  EXPECT_TRUE(wait_until([&] { return !probes_of(*memtrace).empty(); })) << memtrace->err();
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  memtrace->signal(SIGINT);
  memtrace->signal(SIGTERM);
  const Outcome outcome = memtrace->wait();
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_TRUE(outcome.says("a second signal ended the look-up of names")) << outcome.all();
  EXPECT_EQ(probes_of(*memtrace), "");
  // The program still runs, and its files are here.
  const Json calls = report("malloc --top 0");
  EXPECT_GT(sum_with_function(calls, "take_busily"), 0U);
  EXPECT_NE(calls.at("caveats").dump().find("a second signal"), std::string::npos);
  target->signal(SIGKILL);
  target->wait();
}

TEST_F(AttachTest, signal_before_the_first_event_leaves_no_probe_behind) {
  const auto target = start("exec $PUPPETS/busy_threads 100 60");
  const auto memtrace =
      start("exec $MEMTRACE malloc 1 -p " + std::to_string(target->pid()) + " >out 2>&1");
  EXPECT_TRUE(wait_until([&] { return !probes_of(*memtrace).empty(); })) << memtrace->err();
  memtrace->signal(SIGTERM);
  memtrace->wait();
  EXPECT_EQ(probes_of(*memtrace), "");
  target->signal(SIGKILL);
  target->wait();
}

// However long it takes to notice that the time is up.
TEST_F(AttachTest, duration_is_as_long_as_was_asked) {
  const auto events = start("while :; do $PUPPETS/many_kmallocs 10; sleep 0.01; done >/dev/null");
  run_well("$MEMTRACE record -a -d 1 -e kmem:kmalloc,kmem:kfree --call-graph none");
  const Json kmalloc = report("kmalloc --by comm");
  const auto span_ns =
      kmalloc.at("end_ns").get<std::uint64_t>() - kmalloc.at("start_ns").get<std::uint64_t>();
  EXPECT_NEAR(static_cast<double>(span_ns), 1e9, 1e7);
  const Json live = json_of("$MEMTRACE kmalloc -a -d 1 --by comm --format json");
  const auto live_ns =
      live.at("end_ns").get<std::uint64_t>() - live.at("start_ns").get<std::uint64_t>();
  EXPECT_NEAR(static_cast<double>(live_ns), 1e9, 1e7);
  events->signal(SIGKILL);
  events->wait();
}

// The tracing of mappings begins earlier, so that none is missed while /proc is read.
TEST_F(AttachTest, all_events_are_counted_from_one_moment) {
  run_well(
      "(while :; do $PUPPETS/touch_pages 1; done) >touched 2>&1 & maker=$!; "
      "$MEMTRACE record -a --for faults,mmap -d 1 >out 2>&1; kill $maker; wait $maker; true");
  const Json mmap = report("mmap --by comm");
  const Json faults = report("faults --by comm");
  EXPECT_EQ(mmap.at("start_ns"), faults.at("start_ns"));
  EXPECT_EQ(mmap.at("end_ns"), faults.at("end_ns"));
  EXPECT_LE(mmap.at("end_ns").get<std::uint64_t>() - mmap.at("start_ns").get<std::uint64_t>(),
            1'010'000'000U);
}

}  // namespace
}  // namespace memtrace::test
