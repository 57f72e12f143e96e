// The user heap, by probes on the allocators of real programs.
#include <fstream>

#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

class HeapTest : public HeapLiveTest {
 protected:
  Json leaks_of(const std::string& words, const std::string& preload = "") {
    run_well((preload.empty() ? "" : "LD_PRELOAD=" + preload + " ") +
             "$MEMTRACE record --for leaks " + words);
    return report("leaks --top 0");
  }

  // Skips when the library is not installed.
  std::string library(const std::string& name) {
    const Outcome found = run("ldconfig -p | sed -n 's/.*=> //p' | grep -m1 /" + name);
    return found.out.substr(0, found.out.find('\n'));
  }

  void expect_all_leaks(const Json& leaks) {
    EXPECT_EQ(leak_at(leaks, "leak_by_malloc"), (Leak{10, 1045}));
    EXPECT_EQ(leak_at(leaks, "leak_by_calloc"), (Leak{5, 1000}));
    EXPECT_EQ(leak_at(leaks, "leak_by_realloc"), (Leak{3, 15000}));
    EXPECT_EQ(leak_at(leaks, "leak_aligned"), (Leak{5, 1600}));
    EXPECT_EQ(leak_at(leaks, "leak_by_new"), (Leak{6, 462}));
    EXPECT_EQ(leak_at(leaks, "leak_by_other_news"), (Leak{7, 392}));
    EXPECT_EQ(leak_at(leaks, "free_all"), (Leak{0, 0}));
    EXPECT_EQ(leak_at(leaks, "run_thread"), (Leak{4, 1000}));
    EXPECT_EQ(leak_at(leaks, "leak_in_child"), (Leak{7, 2100}));
    EXPECT_EQ(leak_at(leaks, "fork_and_leak").count, 7U);  // the child's
    EXPECT_EQ(leak_at(leaks, "jump_back"), (Leak{1, 33}));
    EXPECT_EQ(lost_in(leaks), 0U);
  }
};

TEST_F(HeapTest, leaks_are_exact_in_blocks_and_bytes_at_the_function_that_leaked) {
  expect_all_leaks(leaks_of("-- $PUPPETS/heap_patterns all"));
}

TEST_F(HeapTest, leaks_through_jemalloc_are_exact) {
  const std::string jemalloc = library("libjemalloc.so");
  if (jemalloc.empty()) {
    GTEST_SKIP() << "libjemalloc is not installed";
  }
  expect_all_leaks(leaks_of("-- $PUPPETS/heap_patterns all", jemalloc));
}

TEST_F(HeapTest, leaks_through_tcmalloc_are_exact) {
  const std::string tcmalloc = library("libtcmalloc_minimal.so");
  if (tcmalloc.empty()) {
    GTEST_SKIP() << "libtcmalloc is not installed";
  }
  expect_all_leaks(leaks_of("-- $PUPPETS/heap_patterns all", tcmalloc));
}

// Operators that call another function of their allocator, or jump to it, count once.
TEST_F(HeapTest, a_call_is_counted_once_whatever_the_allocator_makes_of_it) {
  for (const char* name : {"", "libjemalloc.so", "libtcmalloc_minimal.so"}) {
    const std::string preload = *name == '\0' ? "" : library(name);
    run_well("LD_PRELOAD=" + preload +
             " $MEMTRACE record --for malloc -- $PUPPETS/heap_patterns all");
    const Json calls = report("malloc --top 0");
    EXPECT_EQ(leak_at(calls, "leak_by_new"), (Leak{6, 462})) << preload;
    EXPECT_EQ(leak_at(calls, "leak_by_other_news"), (Leak{7, 392})) << preload;
  }
}

TEST_F(HeapTest, a_watched_program_ends_as_it_would_alone) {
  for (const char* view : {"malloc", "leaks", "heap"}) {
    const Outcome alone = run_well("$PUPPETS/heap_patterns leave");
    const Outcome watched = run_well(std::string("$MEMTRACE record --for ") + view +
                                     " -- $PUPPETS/heap_patterns leave");
    EXPECT_EQ(watched.out, alone.out) << view;
    EXPECT_EQ(watched.out, "caught 3\n");
  }
}

// Return probes break programs in many ways: kernel/events/uprobes.c replaces return addresses.
TEST_F(HeapTest, a_program_that_does_everything_at_once_is_not_harmed) {
  const Outcome alone = run("$PUPPETS/all_at_once");
  EXPECT_EQ(alone.status, 7);
  EXPECT_EQ(alone.out, "caught 240 refused 240 jumped 240 signals 240 children 60\n");
  for (const char* options : {"--for malloc",
                              "--for leaks",
                              "--for heap",
                              "--for arenas",
                              "-e uprobe:libc:malloc",
                              "--for calls -e 'uprobe:libc:*alloc*'",
                              "--for leaks --one-probe"}) {
    const Outcome watched =
        run(std::string("$MEMTRACE record ") + options + " -- $PUPPETS/all_at_once");
    EXPECT_EQ(watched.out, alone.out) << options << watched.err;
    EXPECT_EQ(watched.status, alone.status) << options << watched.err;
  }
}

// Each thread leaks ten blocks of a size of its own.
TEST_F(HeapTest, ten_threads_at_full_speed_are_not_mixed_up) {
  constexpr std::uint64_t kTrue = 100;
  run_well("$MEMTRACE record --for leaks -- $PUPPETS/heap_storm 10 3000");
  const Json leaks = report("leaks --by size,function --top 0");
  const std::uint64_t lost = lost_in(leaks);
  std::uint64_t seen = 0;
  for (std::uint64_t number = 0; number < 10; ++number) {
    const std::uint64_t count = figure_of(leaks, "size", 1000 + number);
    EXPECT_LE(count, 10U) << number;
    EXPECT_TRUE(count == 10 || lost > 0) << number << ": " << count;
    seen += count;
  }
  EXPECT_LE(seen, kTrue);
  EXPECT_LE(kTrue, seen + lost);
}

// A small ring loses: then the report says so, and what is true lies within its bounds.
TEST_F(HeapTest, loss_is_told_and_the_bounds_hold) {
  run_well("$MEMTRACE record --ring-size 64K --for leaks -- $PUPPETS/heap_storm 10 3000");
  const Json leaks = report("leaks --by size --top 0");
  if (lost_in(leaks) == 0) {
    GTEST_SKIP() << "nothing was lost, even with the smallest ring";
  }
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const Json& each : leaks.at("caveats").at("notes")) {
    const std::string note = each.get<std::string>();
    const std::size_t at = note.find("between ");
    if (at != std::string::npos) {
      std::istringstream words(note.substr(at));
      std::string word;
      words >> word >> low >> word >> high;
    }
  }
  EXPECT_LE(low, 100U) << leaks.dump();
  EXPECT_GE(high, 100U) << leaks.dump();
}

TEST_F(HeapTest, the_live_view_agrees_with_the_recording) {
  const Json live = json_of(
      "$MEMTRACE leaks --format json --top 0 -- $PUPPETS/heap_patterns all | grep -v caught");
  expect_all_leaks(live);
}

TEST_F(HeapTest, a_running_process_is_watched_from_outside) {
  run_well(
      "$PUPPETS/heap_patterns pause >told & PUPPET=$!; await ready told $PUPPET || exit 1\n"
      "begin $MEMTRACE record --for leaks -p $PUPPET; kill -USR2 $PUPPET; wait $RECORDER");
  EXPECT_EQ(leak_at(report("leaks --top 0"), "leak_by_malloc"), (Leak{10, 1045}));
}

TEST_F(HeapTest, one_probe_takes_sizes_from_glibcs_chunks) {
  run_well("$MEMTRACE record --for leaks --one-probe -- $PUPPETS/heap_patterns malloc");
  const Json leaks = report("leaks --top 0");
  // 100 to 104 bytes fit into a chunk of 112, 105 to 109 into one of 128, less 8 each.
  EXPECT_EQ(leak_at(leaks, "leak_by_malloc"), (Leak{10, 5 * 104 + 5 * 120}));
}

TEST_F(HeapTest, size_limits_are_tested_in_the_kernel) {
  run_well(
      "$MEMTRACE record --for malloc --min-bytes 105 --max-bytes 107 -- "
      "$PUPPETS/heap_patterns malloc");
  EXPECT_EQ(report("malloc").at("totals").at("bytes"), 105 + 106 + 107);
}

// realloc of no block jumps to malloc, and is no call of malloc.
TEST_F(HeapTest, calls_are_counted_as_bpftrace_counts_them) {
  if (run("bpftrace --version").status != 0) {
    GTEST_SKIP() << "bpftrace is not installed: there is nothing to compare with";
  }
  const Outcome counted = run_well(
      "bpftrace -e 'uprobe:libc:malloc /comm == \"heap_patterns\"/ { @ = sum(1); } "
      "uprobe:libc:realloc /comm == \"heap_patterns\" && arg0 == 0/ { @ = sum(-1); }' "
      "-c \"$PUPPETS/heap_patterns all\" | sed -n 's/^@: //p'");
  run_well("$MEMTRACE record --for malloc -- $PUPPETS/heap_patterns all");
  EXPECT_EQ(figure_of(report("malloc --by function --top 0"), "function", "malloc"),
            std::stoul(counted.out));
}

TEST_F(HeapTest, costs_are_those_that_the_program_has) {
  run_well("$MEMTRACE record --for heap -- $PUPPETS/heap_costs");
  const Json heap = report("heap --by function --exclude '^none$' --max-bytes 20000 --top 0");
  EXPECT_EQ(heap.at("totals").at("allocs"), 1599);
  EXPECT_EQ(heap.at("totals").at("peak"), 1499500);
  EXPECT_EQ(heap.at("totals").at("leaked"), 194950);
  EXPECT_EQ(heap.at("totals").at("leaked_count"), 100);
  EXPECT_EQ(heap.at("totals").at("temporary"), 599);
}

// heaptrack adds what its own library allocates at the start: one call, the 72,704 bytes that the
// C++ library keeps for exceptions.
TEST_F(HeapTest, costs_agree_with_heaptracks) {
  if (run("heaptrack --version").status != 0) {
    GTEST_SKIP() << "heaptrack is not installed: there is nothing to compare with";
  }
  run_well("heaptrack -o costs $PUPPETS/heap_costs");
  const auto heaptrack = [this](const std::string& line) {
    const Outcome figure =
        run_well("heaptrack_print costs.* | sed -n 's/^" + line + ": \\([0-9.]*\\).*/\\1/p'");
    return std::stod(figure.out);
  };
  run_well("$MEMTRACE record --for heap -- $PUPPETS/heap_costs");
  const Json totals = report("heap").at("totals");
  constexpr double kExceptionPool = 72704;
  EXPECT_NEAR(heaptrack("calls to allocation functions"), totals.at("allocs").get<double>(), 2);
  EXPECT_NEAR(heaptrack("temporary memory allocations"), totals.at("temporary").get<double>(), 2);
  EXPECT_NEAR(heaptrack("total memory leaked") * 1e3, totals.at("leaked").get<double>(), 100);
  EXPECT_NEAR(heaptrack("peak heap memory consumption") * 1e6 - kExceptionPool,
              totals.at("peak").get<double>(),
              10000);
}

TEST_F(HeapTest, nothing_is_left_behind_even_by_a_killed_run) {
  const Outcome killed =
      run("begin $MEMTRACE record --for leaks -- sh -c 'echo $$ >child; exec sleep 30'\n"
          "grep -q memtrace_heap_$RECORDER/ /sys/kernel/tracing/uprobe_events && echo $RECORDER\n"
          "kill -9 $RECORDER; wait; until [ -s child ]; do sleep 0.02; done; kill $(cat child)");
  const std::string pid = killed.out.substr(0, killed.out.find('\n'));
  ASSERT_FALSE(pid.empty()) << killed.all();
  run_well("$MEMTRACE record --for malloc -- true");
  const std::string probes = text_of("/sys/kernel/tracing/uprobe_events");
  EXPECT_EQ(probes.find("memtrace_heap_" + pid + "/"), std::string::npos) << probes;
}

TEST_F(HeapTest, bad_targets_get_a_sentence) {
  const Outcome no_function = run("$MEMTRACE record -e uprobe:libc:malocc -- true");
  EXPECT_EQ(no_function.status, 2);
  EXPECT_TRUE(no_function.says("malloc")) << no_function.all();
  const Outcome no_library = run("$MEMTRACE record -e uprobe:libnone:malloc -- true");
  EXPECT_EQ(no_library.status, 2);
  const Outcome no_custom = run("$MEMTRACE record --for leaks --alloc nothing_here -- true");
  EXPECT_EQ(no_custom.status, 2);
}

}  // namespace
}  // namespace memtrace::test
