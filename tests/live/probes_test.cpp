// User probes on a real kernel: they count what a program calls, and nothing of them stays behind.
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class ProbesTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
      GTEST_SKIP() << "no uprobe_events here";
    }
  }

  static std::string libc() {
    for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"}) {
      if (std::filesystem::exists(path)) {
        return path;
      }
    }
    return "";
  }

  // A script in which $PROBE is a probe on `function` of libc; it is gone at the script's end.
  Outcome run_with_probe(const std::string& function_and_place, const std::string& script) {
    return run_well("mkfifo hold; $PUPPETS/hold_probe " + libc() + " " + function_and_place +
                    " <hold >held & exec 9>hold\n"
                    "while ! grep -q : held && kill -0 $!; do sleep 0.02; done\n"
                    "PROBE=$(sed -n 's/ +.*//p;' held | grep :)\n" +
                    script + "\nexec 9>&-; wait $!");
  }

  static std::string defined() { return text_of("/sys/kernel/tracing/uprobe_events"); }

  // More calls than of a program that makes none: those of its start-up are left out.
  long counted(const std::string& function_and_place) {
    const std::string count = "perf stat -x, -e $PROBE -- $PUPPETS/heap_calls ";
    const Outcome outcome =
        run_with_probe(function_and_place,
                       count + "0 2>none >/dev/null; " + count +
                           "1500 2>many >/dev/null; cut -d, -f1 none many; rm hold");
    std::istringstream words(outcome.out);
    long none = 0;
    long many = 0;
    words >> none >> many;
    return many - none;
  }
};

TEST_F(ProbesTest, calls_are_counted_exactly_wherever_the_probe_is) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  for (const char* probe :
       {"malloc entry", "malloc place", "malloc return", "free entry", "free place", "free free"}) {
    EXPECT_EQ(counted(probe), 1500) << probe;
  }
}

TEST_F(ProbesTest, nothing_stays_defined_at_the_end) {
  const Outcome outcome = run_with_probe("free free",
                                         "grep $(echo $PROBE | tr : /) "
                                         "/sys/kernel/tracing/uprobe_events");
  EXPECT_NE(outcome.out.find("memtrace_heap_"), std::string::npos);
  EXPECT_EQ(defined().find(outcome.out.substr(2, outcome.out.find(' ') - 2)), std::string::npos);
}

TEST_F(ProbesTest, killed_process_leaves_a_probe_that_the_next_one_removes) {
  run("echo 'p:mtlivetest/others " + libc() + ":0x100' >>/sys/kernel/tracing/uprobe_events");
  const std::string killed = "mkfifo hold; exec 9<>hold; $PUPPETS/hold_probe " + libc() +
                             " malloc entry <&9 >held & "
                             "while ! grep -q : held; do sleep 0.02; done; kill -9 $!; wait $!; "
                             "sed -n 's/ +.*//p' held | grep :";
  std::string name = run(killed).out;
  ASSERT_NE(name.find(':'), std::string::npos);
  name = "p:" + name.substr(0, name.find(':')) + "/";
  EXPECT_NE(defined().find(name), std::string::npos);
  const Outcome next = run_well("$PUPPETS/hold_probe " + libc() + " free entry </dev/null");
  EXPECT_NE(next.out.find("stale"), std::string::npos);
  EXPECT_FALSE(next.out.starts_with("0 stale"));
  EXPECT_EQ(defined().find(name), std::string::npos);
  EXPECT_NE(defined().find("p:mtlivetest/others"), std::string::npos);
  run("echo '-:mtlivetest/others' >>/sys/kernel/tracing/uprobe_events");
}

// Killed while it records: what is left are probes, and cleanup removes those and no others.
TEST_F(ProbesTest, cleanup_removes_what_a_killed_memtrace_has_left) {
  run("echo 'p:mtlivetest/others " + libc() + ":0x100' >>/sys/kernel/tracing/uprobe_events");
  const std::string pid = run_well(
                              "sleep 60 & TARGET=$!\n"
                              "export MEMTRACE_USER_PROBES=tracefs\n"
                              "begin $MEMTRACE record --for malloc -o killed.data -p $TARGET\n"
                              "kill -9 $RECORDER; wait $RECORDER; kill $TARGET; echo $RECORDER")
                              .out;
  const std::string group = "memtrace_heap_" + pid.substr(0, pid.find('\n'));
  ASSERT_NE(defined().find(group + "/"), std::string::npos);
  EXPECT_NE(run_well("$MEMTRACE cleanup --dry-run").out.find("would remove " + group + ":"),
            std::string::npos);
  EXPECT_NE(defined().find(group + "/"), std::string::npos) << "a dry run removes nothing";
  const Outcome cleaned = run_well("$MEMTRACE cleanup");
  EXPECT_NE(cleaned.out.find("removed " + group + ":"), std::string::npos) << cleaned.out;
  EXPECT_EQ(defined().find(group + "/"), std::string::npos);
  EXPECT_NE(defined().find("p:mtlivetest/others"), std::string::npos);
  run("echo '-:mtlivetest/others' >>/sys/kernel/tracing/uprobe_events");
}

TEST_F(ProbesTest, the_uprobe_pmu_gives_the_same_figures_as_tracefs) {
  need_perf();
  if (IsSkipped() || !std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "needs perf and a kernel with the uprobe PMU";
  }
  // Compares stacks and functions; ages differ from run to run.
  const auto rows_of = [](const Json& report) {
    std::multiset<std::string> rows;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      rows.insert((row.contains("stack") ? row.at("stack") : row.at("function")).dump() + " " +
                  row.at("count").dump() + " " + row.at("bytes").dump());
    }
    return rows;
  };
  std::multiset<std::string> leaks[2];
  std::multiset<std::string> calls[2];
  int way = 0;
  for (const char* name : {"tracefs", "pmu"}) {
    const std::string record = std::string("MEMTRACE_USER_PROBES=") + name + " $MEMTRACE record ";
    run_well(record + "-o user.data --for malloc,leaks -- $PUPPETS/heap_patterns alone");
    leaks[way] = rows_of(report("leaks --top 0 -i user.data"));
    calls[way] = rows_of(report("malloc --by function -i user.data"));
    const EventCounts own = own_counts("user.data");
    EXPECT_EQ(own, perf_counts("user.data")) << name;
    ++way;
  }
  EXPECT_EQ(leaks[0], leaks[1]);
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_FALSE(leaks[1].empty());
}

TEST_F(ProbesTest, live_view_and_limits_by_the_uprobe_pmu) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const Json live = json_of(
      "MEMTRACE_USER_PROBES=pmu $MEMTRACE leaks --top 0 --format json -- "
      "$PUPPETS/heap_patterns alone 2>/dev/null | sed -n '/^{/,/^}/p'");
  EXPECT_EQ(sum_with_function(live, "(anonymous namespace)::leak_by_malloc", "bytes"), 1045U);
}

// A breakpoint in a page of a file makes a copy of the page for its process.
TEST_F(ProbesTest, the_uprobe_pmu_probes_nobody_but_the_command) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const auto kib_of_copied_code = [](pid_t pid) {
    std::istringstream lines(text_of("/proc/" + std::to_string(pid) + "/smaps"));
    bool is_code = false;
    long kib = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" r-xp ") != std::string::npos) {
        is_code = line.find("/libc.so") != std::string::npos;
      } else if (is_code && line.starts_with("Anonymous:")) {
        kib += std::stol(line.substr(line.find(':') + 1));
      } else if (line.starts_with("VmFlags:")) {
        is_code = false;
      }
    }
    return kib;
  };
  const Background other("exec sleep 60", dir_.path(), environment());
  Background memtrace(
      "MEMTRACE_USER_PROBES=pmu exec $MEMTRACE record --for malloc -- "
      "sh -c 'echo $$ >pid; exec sleep 60'",
      dir_.path(),
      environment());
  pid_t command = 0;
  const auto is_probed = [&] {
    std::istringstream(text_of(dir_.file("pid"))) >> command;
    return command != 0 && kib_of_copied_code(command) > 0;
  };
  EXPECT_TRUE(wait_until(is_probed)) << memtrace.err();
  EXPECT_EQ(kib_of_copied_code(other.pid()), 0);
  memtrace.signal(SIGTERM);
  memtrace.wait();
}

TEST_F(ProbesTest, what_the_uprobe_pmu_does_not_follow_is_told) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const std::string record =
      "MEMTRACE_USER_PROBES=pmu $MEMTRACE record --for leaks -- $PUPPETS/heap_patterns ";
  EXPECT_FALSE(run_well(record + "malloc").says("threads and children that started"));
  EXPECT_TRUE(run_well(record + "fork").says("threads and children that started"));
  const Json leaks = report("leaks --top 0");
  EXPECT_NE(leaks.at("caveats").dump().find("--yes-all-processes"), std::string::npos);
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_in_child", "bytes"), 0U);
}

TEST_F(ProbesTest, many_threads_are_refused_where_each_needs_probes_of_its_own) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const Background threads("exec $PUPPETS/busy_threads 20 60", dir_.path(), environment());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Outcome outcome = run("MEMTRACE_USER_PROBES=pmu $MEMTRACE record --for malloc -p " +
                              std::to_string(threads.pid()));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.says("each of 21 threads")) << outcome.all();
}

TEST_F(ProbesTest, limits_and_filters_by_the_uprobe_pmu_are_those_of_tracefs) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  for (const char* name : {"tracefs", "pmu"}) {
    const std::string record = std::string("MEMTRACE_USER_PROBES=") + name + " $MEMTRACE record ";
    run_well(record +
             "--for malloc --min-bytes 105 --max-bytes 107 -- $PUPPETS/heap_patterns malloc");
    EXPECT_EQ(report("malloc").at("totals").at("bytes"), 105 + 106 + 107) << name;
    run_well(
        record +
        "-e 'uprobe:libc:malloc(size=arg1)' --filter 'size == 102 || size > 107 && size < 109' "
        "-- $PUPPETS/heap_patterns malloc");
    std::uint64_t samples = 0;
    for (const auto& [event, count] : own_counts("memtrace.data")) {
      samples += event.find("malloc") != std::string::npos ? count : 0;
    }
    EXPECT_EQ(samples, 2U) << name;
  }
  const Outcome text =
      run("MEMTRACE_USER_PROBES=pmu $MEMTRACE record -e 'uprobe:libc:malloc(size=arg1)' "
          "--filter 'size ~ \"1*\"' -- true");
  EXPECT_EQ(text.status, 2) << text.all();
}

TEST_F(ProbesTest, one_probe_by_the_uprobe_pmu_becomes_two_and_says_so) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const Outcome recorded = run_well(
      "MEMTRACE_USER_PROBES=pmu $MEMTRACE record --for leaks --one-probe -- "
      "$PUPPETS/heap_patterns malloc");
  EXPECT_NE(recorded.err.find("--one-probe is not possible"), std::string::npos);
  const Json leaks = report("leaks --top 0");
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_by_malloc", "bytes"), 1045U);
}

// In a mount namespace of its own /sys/kernel is empty: there is nowhere to mount tracefs.
TEST_F(ProbesTest, without_tracefs_faults_and_the_heap_are_seen_and_others_say_what_is_missing) {
  const std::string hide = "unshare -m sh -c 'mount -t tmpfs -o ro none /sys/kernel && exec ";
  if (run(hide + "true'").status != 0 ||
      !std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "no mount namespaces here, or no uprobe PMU";
  }
  run_well(hide +
           "$MEMTRACE record --for malloc,leaks -o bare.data -- "
           "$PUPPETS/heap_patterns malloc'");
  const Json leaks = report("leaks --top 0 -i bare.data");
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_by_malloc", "bytes"), 1045U);
  const Json faults = json_of(hide +
                              "$MEMTRACE faults --format json -- sh -c \"$PUPPETS/touch_pages 300 "
                              ">/dev/null\"' 2>/dev/null");
  EXPECT_GE(faults.at("totals").at("count").get<std::uint64_t>(), 300U);
  for (const char* view : {"kmalloc", "slab", "pages"}) {
    const Outcome refused = run(hide + "$MEMTRACE " + view + " -a -d 0.1'");
    EXPECT_EQ(refused.status, 1) << view << refused.all();
    EXPECT_TRUE(refused.says("tracefs") || refused.says("tracing")) << refused.all();
  }
}

TEST_F(ProbesTest, a_static_probes_semaphore_is_raised_while_recording_and_put_back) {
  if (!std::filesystem::exists(std::string(PUPPETS_FOLDER) + "/sdt_semaphore")) {
    GTEST_SKIP() << "built without sys/sdt.h (systemtap-sdt-dev)";
  }
  const std::string record =
      "$MEMTRACE record -e 'sdt:'$PUPPETS'/sdt_semaphore:memtrace_puppet:step' ";
  EXPECT_EQ(run_well("$PUPPETS/sdt_semaphore 25").out, "passed 0\n");
  EXPECT_EQ(run_well(record + "-- $PUPPETS/sdt_semaphore 25").out, "passed 25\n");
  const Json counted = report("count --by arg1,arg2 --top 0");
  for (std::int64_t i = 0; i < 25; ++i) {
    std::uint64_t rows = 0;
    for (const Json& row : counted.at("tables").at(0).at("rows")) {
      rows += row.at("arg1") == 3 * i && row.at("arg2") == -i ? 1 : 0;
    }
    EXPECT_EQ(rows, 1U) << i << counted.dump();
  }
  // For a program that already runs, and continues after the recording.
  const Outcome attached = run_well(
      "mkfifo lines; $PUPPETS/sdt_semaphore 25 pause <lines >told & exec 9>lines; PID=$!\n"
      "await semaphore told $PID || exit 1\n"
      "begin " +
      record + "-p $PID -o attached.data; echo >&9\n" +
      "while [ $(grep -c semaphore told) -lt 2 ] && kill -0 $PID; do sleep 0.05; done\n"
      "kill -INT $RECORDER; wait $RECORDER; sleep 0.3; echo >&9; exec 9>&-; wait $PID; cat told");
  EXPECT_EQ(attached.out, "semaphore 0\npassed 25\nsemaphore 1\nsemaphore 0\n");
}

TEST_F(ProbesTest, what_cannot_be_probed_is_told_with_its_reason) {
  const Outcome folder = run("$PUPPETS/hold_probe /nowhere malloc entry </dev/null");
  EXPECT_TRUE(folder.says("/nowhere")) << folder.all();
  const Outcome typo = run("$PUPPETS/hold_probe " + libc() + " mallok entry </dev/null");
  EXPECT_TRUE(typo.says("did you mean malloc")) << typo.all();
}

}  // namespace
}  // namespace memtrace::test
