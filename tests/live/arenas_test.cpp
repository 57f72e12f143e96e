// Arenas, calls and static probes on a real kernel, with programs whose malloc's doings are known.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class ArenasTest : public LiveTest {
 protected:
  void need_static_probes() {
    if (!std::filesystem::exists(std::string(PUPPETS_FOLDER) + "/play_arenas")) {
      GTEST_SKIP() << "built without sys/sdt.h (systemtap-sdt-dev)";
    }
  }

  static const Json& table(const Json& report, std::string_view title) {
    for (const Json& each : report.at("tables")) {
      if (begins_with(each.at("title"), title)) {
        return each;
      }
    }
    static const Json kNone = {{"rows", Json::array()}};
    return kNone;
  }

  static bool says(const Json& report, std::string_view part) {
    return report.at("caveats").at("notes").dump().find(part) != std::string::npos;
  }
};

TEST_F(ArenasTest, static_probes_of_malloc_are_told_as_they_were) {
  need_static_probes();
  if (IsSkipped()) {
    return;
  }
  const Json shown = traced("$MEMTRACE arenas --format json --trace -- $PUPPETS/play_arenas 3");
  const Json& totals = shown.at("totals");
  EXPECT_EQ(totals.at("arenas"), 3);
  EXPECT_EQ(totals.at("waits"), 9);
  EXPECT_EQ(totals.at("heaps_new"), 6);
  EXPECT_EQ(totals.at("heaps_freed"), 3);
  EXPECT_EQ(totals.at("heap_bytes"), 3 * (132 << 10));
  EXPECT_EQ(totals.at("sbrk_more"), 64 << 10);
  EXPECT_EQ(totals.at("sbrk_less"), 16 << 10);
  const Json& moved = table(shown, "changes of thresholds").at("rows").at(0);
  EXPECT_EQ(moved.at("mmap_threshold"), 256 << 10);
  EXPECT_EQ(moved.at("trim_threshold"), 512 << 10);
  // For each thread 2 arenas, 2 heaps, 2 resized, 6 waits and reuses, 1 freed; sbrk and thresholds.
  EXPECT_EQ(shown.at("lines").size(), 3 * 13 + 3);
  EXPECT_FALSE(says(shown, "guessed"));
}

TEST_F(ArenasTest, arenas_of_a_libc_without_probes_are_guessed) {
  const Json shown = json_of("$MEMTRACE arenas --format json -- $PUPPETS/many_arenas 5");
  if (!says(shown, "guessed")) {
    GTEST_SKIP() << "this libc has static probes";
  }
  EXPECT_EQ(shown.at("totals").at("arenas"), 5);
  EXPECT_GE(shown.at("totals").at("sbrk_more"), 4'000'000);
  const Json& rows = table(shown, "arenas").at("rows");
  ASSERT_EQ(rows.size(), 5);
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("heaps"), 1);
    EXPECT_GE(row.at("bytes"), 80 * 100'000);
    EXPECT_LE(row.at("bytes"), 9'000'000);
  }
}

TEST_F(ArenasTest, what_was_recorded_is_reported_the_same) {
  run_well("$MEMTRACE record --for arenas -o a.data -- $PUPPETS/many_arenas 3");
  EXPECT_EQ(report("arenas -i a.data").at("totals").at("arenas"), 3);
}

TEST_F(ArenasTest, static_probes_are_events_with_their_arguments) {
  need_static_probes();
  if (IsSkipped()) {
    return;
  }
  run_well(
      "$MEMTRACE record -e 'sdt:libfake_glibc_probes:libc:memory_arena_*' -o s.data -- "
      "$PUPPETS/play_arenas 2");
  const Json sizes = report("count --by event,arg2 -i s.data");
  EXPECT_EQ(sizes.at("totals").at("count"), 2 * 2 + 2 * 4);
  EXPECT_EQ(figure_of(sizes, "arg2", 2200), 4);
  EXPECT_EQ(report("calls -i s.data").at("totals").at("count"), 12);
}

TEST_F(ArenasTest, an_unknown_static_probe_is_told_with_the_nearest) {
  need_static_probes();
  if (IsSkipped()) {
    return;
  }
  const Outcome outcome = run(
      "$MEMTRACE record -e sdt:$PUPPETS/libfake_glibc_probes.so:libc:memory_heap_mor -o n.data -- "
      "true");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.says("did you mean libc:memory_heap_more")) << outcome.all();
}

TEST_F(ArenasTest, calls_of_a_library_are_counted_by_function) {
  need_static_probes();
  if (IsSkipped()) {
    return;
  }
  const Json shown = json_of(
      "$MEMTRACE calls --format json -e 'uprobe:libfake_glibc_probes:*play_*' -- "
      "$PUPPETS/play_arenas 3");
  EXPECT_EQ(shown.at("totals").at("probed"), 6);
  EXPECT_EQ(figure_of(shown, "function", "play_wait(char*)"), 9);
  EXPECT_EQ(figure_of(shown, "function", "play_arena(char*, unsigned long, char*)"), 6);
}

TEST_F(ArenasTest, calls_without_events_counts_the_allocators) {
  const auto calls = [this](const std::string& count) {
    run_well("$MEMTRACE record --for calls -o c.data -- $PUPPETS/heap_calls " + count);
    const Json shown = report("calls -i c.data");
    return figure_of(shown, "function", "malloc") + figure_of(shown, "function", "free");
  };
  EXPECT_EQ(calls("1500") - calls("0"), 3000U);
}

TEST_F(ArenasTest, leaks_tells_what_the_allocator_took_from_the_kernel) {
  const Json shown =
      json_of("$MEMTRACE leaks --format json --min-bytes 3000 -- $PUPPETS/many_arenas 2");
  const Json& row = table(shown, "memory from the kernel").at("rows").at(0);
  constexpr std::int64_t kHeld = 2 * 80 * 100'000 + 1'000 * 4'000 + (64 << 20);
  EXPECT_GE(row.at("held"), kHeld);
  EXPECT_GE(row.at("from_kernel"), row.at("held"));
  EXPECT_LE(row.at("from_kernel"), kHeld + (4 << 20));
  EXPECT_GE(row.at("brk"), 4'000'000);
}

}  // namespace
}  // namespace memtrace::test
