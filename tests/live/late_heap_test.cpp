// Allocators that a program gets while it is recorded: by dlopen(3), and by execve(2).
#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

// late_heap's: of 40 blocks of 1,000 to 1,039 bytes the last 10 are not freed.
constexpr std::uint64_t kCalls = 40;
constexpr std::uint64_t kLeaked = 10;
constexpr std::uint64_t kLeakedBytes = 10345;

class LateHeapTest : public HeapLiveTest {
 protected:
  static std::string pool_options() {
    return "--alloc 'liblate_pool.so:pool_take(size=arg1)->ptr' "
           "--free 'liblate_pool.so:pool_give(ptr=arg1)' ";
  }

  static std::string use_pool() {
    return "$PUPPETS/late_heap $PUPPETS/liblate_pool.so pool_take pool_give";
  }

  static void expect_leaks(const Json& leaks) {
    EXPECT_EQ(leak_at(leaks, "use_late_heap"), (Leak{kLeaked, kLeakedBytes}));
    EXPECT_EQ(lost_in(leaks), 0U);
  }

  static bool has_note(const Json& report, const std::string& text) {
    for (const Json& note : report.at("caveats").at("notes")) {
      if (note.get<std::string>().find(text) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

TEST_F(LateHeapTest, a_library_loaded_by_dlopen_is_probed_and_told) {
  run_well("$MEMTRACE record --for malloc,leaks " + pool_options() + "-- " + use_pool());
  const Json leaks = report("leaks --top 0");
  expect_leaks(leaks);
  EXPECT_TRUE(has_note(leaks, "liblate_pool.so was loaded by process"));
  EXPECT_EQ(figure_of(report("malloc --by function --top 0"), "function", "pool_take"), kCalls);
  const std::string probes = text_of("/sys/kernel/tracing/uprobe_events");
  EXPECT_EQ(probes.find("pool_take"), std::string::npos) << probes;
}

TEST_F(LateHeapTest, the_uprobe_pmu_probes_late_libraries_as_well) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  run_well("MEMTRACE_USER_PROBES=pmu $MEMTRACE record --for leaks " + pool_options() + "-- " +
           use_pool());
  expect_leaks(report("leaks --top 0"));
}

TEST_F(LateHeapTest, perf_reads_the_late_events_as_well) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  for (const char* options : {"", "-z "}) {
    run_well("$MEMTRACE record -o late.data --for leaks " + std::string(options) + pool_options() +
             "-- " + use_pool());
    const EventCounts own = own_counts("late.data");
    EXPECT_EQ(own, perf_counts("late.data"));
    std::uint64_t takes = 0;  // "pool_take_2": of the second allocator
    for (const auto& [event, count] : own) {
      takes += event.ends_with(":pool_take_2") ? count : 0;
    }
    EXPECT_EQ(takes, kCalls) << options;
  }
}

TEST_F(LateHeapTest, a_pipe_and_a_killed_recording_hold_the_late_events) {
  const std::string record = "$MEMTRACE record --for leaks " + pool_options();
  expect_leaks(json_of(record + "-o - -- " + use_pool() +
                       " | $MEMTRACE report leaks --format json --top 0 -i -"));
  // What the file holds can be read while it grows. Its events may reach it in several pieces: the
  // recorder dies when the last free is in it.
  run("begin " + record + "-o killed.data -- sh -c 'echo $$ >child; " + use_pool() +
      "; echo used >told; exec sleep 60'\n"
      "await used told $RECORDER\n"
      "for i in $(seq 40); do $MEMTRACE report leaks --top 0 --format csv -i killed.data | grep "
      "use_late_heap | grep -q " +
      std::to_string(kLeakedBytes) +
      " && break; sleep 0.25; done "
      "2>/dev/null\n"
      "kill -9 $RECORDER; wait; kill $(cat child)");
  expect_leaks(report("leaks --top 0 -i killed.data"));
  run_well("$MEMTRACE record --for malloc -o after.data -- true");  // removes the probes
}

TEST_F(LateHeapTest, a_static_program_run_by_a_shell_is_probed) {
  run_well("$MEMTRACE record --for leaks -- sh -c '$PUPPETS/late_heap_static; true'");
  expect_leaks(report("leaks --top 0"));
}

// Its first call of malloc(3) comes before its probes, and takes memory by brk(2).
TEST_F(LateHeapTest, what_a_late_probed_allocator_takes_for_itself_is_no_leak) {
  run_well("$MEMTRACE record --for leaks -- sh -c '$PUPPETS/late_heap_static; true'");
  EXPECT_GT(sum_with_function(report("brk --top 0"), "sysmalloc", "grown"), 0U);
  const Json leaks = report("leaks --top 0");
  EXPECT_EQ(sum_with_function(leaks, "sysmalloc", "bytes"), 0U) << leaks.dump(1);
  expect_leaks(leaks);
}

// Its allocator is in the program itself, and without symbols nobody finds it.
TEST_F(LateHeapTest, a_static_program_behind_env_is_told_when_no_allocator_is_found_in_it) {
  const std::string record = "$MEMTRACE record --for leaks -- env X=1 ";
  const Outcome named = run_well(record + "$PUPPETS/late_heap_static");
  EXPECT_FALSE(named.says("is statically linked")) << named.all();
  const Outcome outcome =
      run_well("strip -o nameless $PUPPETS/late_heap_static && " + record + "./nameless");
  EXPECT_TRUE(outcome.says("nameless is statically linked, and has no symbol of an allocator"))
      << outcome.all();
}

TEST_F(LateHeapTest, jemalloc_loaded_by_dlopen_is_probed) {
  const std::string jemalloc = run("ldconfig -p | sed -n 's/.*=> //p' | grep -m1 /libjemalloc").out;
  // Its thread-local memory is larger than what glibc keeps free for libraries that come late.
  const std::string use =
      "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536 $PUPPETS/late_heap " +
      jemalloc.substr(0, jemalloc.find('\n')) + " malloc free";
  if (jemalloc.empty() || run(use).status != 0) {
    GTEST_SKIP() << "libjemalloc is not installed, or cannot be loaded by dlopen";
  }
  run_well("$MEMTRACE record --for leaks -- env " + use);
  const Json leaks = report("leaks --top 0");
  expect_leaks(leaks);
  EXPECT_TRUE(has_note(leaks, "libjemalloc"));
}

TEST_F(LateHeapTest, the_live_view_of_a_running_process_counts_no_others) {
  const Json live = json_of(
      "mkfifo first second; sh -c 'read line <first; " + use_pool() + "; true' & SHELL_PID=$!\n" +
      "(read line <second; " + use_pool() + ") &\n" +
      "begin $MEMTRACE leaks --format json --top 0 " + pool_options() +
      "-p $SHELL_PID >live.json 2>/dev/null; echo >first; echo >second; wait; cat live.json");
  expect_leaks(live);
}

}  // namespace
}  // namespace memtrace::test
