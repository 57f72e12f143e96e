// The user heap through every C library and allocator there is: each call of each function is
// counted once, and the blocks that are left are those that the program left.
#include <array>

#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

struct Known {
  const char* function;  // of known_calls
  std::uint64_t calls = 0;
  Leak left;
};

constexpr auto kAll = std::to_array<Known>({
    {"use_malloc", 40, {10, 500}},
    {"use_calloc", 20, {5, 255}},
    {"use_realloc", 25, {2, 640}},
    {"use_array", 6, {3, 210}},
    {"use_posix_memalign", 7, {2, 800}},
    {"use_aligned_alloc", 8, {4, 1536}},
    {"use_memalign", 9, {3, 900}},
});

// A way to run known_calls.
struct Way {
  const char* name;
  const char* puppet;        // in the folder of puppets
  const char* preload = "";  // a library's name

  friend std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }
};

class LibcsTest : public HeapLiveTest, public testing::WithParamInterface<Way> {
 protected:
  // Skips when something is missing.
  std::string command(const std::string& mode) {
    const std::string puppet = std::string(PUPPETS_FOLDER "/") + GetParam().puppet;
    if (!std::filesystem::exists(puppet)) {
      skipped_ = std::string(GetParam().puppet) + " was not built: its library is not installed";
      return "";
    }
    const std::string preload = GetParam().preload;
    if (preload.empty()) {
      return puppet + " " + mode;
    }
    const Outcome found = run("ldconfig -p | sed -n 's/.*=> //p' | grep -m1 /" + preload);
    const std::string library = found.out.substr(0, found.out.find('\n'));
    if (library.empty()) {
      skipped_ = preload + " is not installed";
    }
    return "env LD_PRELOAD=" + library + " " + puppet + " " + mode;
  }

  std::string skipped_;
};

TEST_P(LibcsTest, each_call_counts_once) {
  const std::string all = command("all");
  if (!skipped_.empty()) {
    GTEST_SKIP() << skipped_;
  }
  run_well("$MEMTRACE record --for malloc -- " + all);
  const Json calls = report("malloc --top 0");
  for (const Known& known : kAll) {
    EXPECT_EQ(sum_with_function(calls, known.function), known.calls) << known.function;
  }
  EXPECT_EQ(lost_in(calls), 0U);
}

TEST_P(LibcsTest, blocks_that_are_left_are_exact) {
  const std::string all = command("all");
  if (!skipped_.empty()) {
    GTEST_SKIP() << skipped_;
  }
  run_well("$MEMTRACE record --for leaks,heap -- " + all);
  const Json leaks = report("leaks --top 0");
  const Json heap = report("heap --top 0");
  for (const Known& known : kAll) {
    const Leak left = {sum_with_function(leaks, known.function),
                       sum_with_function(leaks, known.function, "bytes")};
    EXPECT_EQ(left, known.left) << known.function;
    EXPECT_EQ(sum_with_function(heap, known.function, "allocs"), known.calls) << known.function;
    EXPECT_EQ(sum_with_function(heap, known.function, "leaked"), known.left.bytes)
        << known.function;
  }
}

TEST_P(LibcsTest, the_caller_is_named) {
  const std::string all = command("all");
  if (!skipped_.empty()) {
    GTEST_SKIP() << skipped_;
  }
  run_well("$MEMTRACE record --for malloc -- " + all);
  EXPECT_EQ(figure_of(report("malloc --by caller --top 0"), "caller", "use_malloc"), 40U);
}

INSTANTIATE_TEST_SUITE_P(
    of,
    LibcsTest,
    testing::Values(Way{"glibc", "known_calls"},
                    Way{"musl", "known_calls_musl_dynamic"},
                    Way{"musl_static", "known_calls_musl_static"},
                    Way{"jemalloc", "known_calls_jemalloc"},
                    Way{"tcmalloc", "known_calls_tcmalloc_minimal"},
                    Way{"mimalloc", "known_calls_mimalloc"},
                    Way{"jemalloc_preloaded", "known_calls", "libjemalloc.so.2"},
                    Way{"tcmalloc_preloaded", "known_calls", "libtcmalloc_minimal.so.4"},
                    Way{"mimalloc_preloaded", "known_calls", "libmimalloc.so.2"}),
    [](const auto& each) { return std::string(each.param.name); });

// Debian's bullseye has glibc 2.31, whose malloc and realloc begin the first call of a process
// twice (malloc/hooks.c, malloc_hook_ini), as those of RHEL 7 and 8 do.
class OldGlibcTest : public HeapLiveTest {
 protected:
  void SetUp() override {
    HeapLiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    if (!std::filesystem::exists(PUPPETS_FOLDER "/known_calls_old")) {
      GTEST_SKIP() << "known_calls_old is built on x86-64 only";
    }
    // With its perf Debian's C library is fetched, too.
    const Outcome fetched = run(std::string("sh ") + LIVE_TEST_DATA + "/../perfs/fetch '" +
                                FETCHED_PERFS + "' bullseye");
    if (fetched.status != 0) {
      GTEST_SKIP() << fetched.out.substr(0, fetched.out.find('\n'));
    }
    const std::string folder = FETCHED_PERFS "/bullseye/root/lib/x86_64-linux-gnu";
    program_ = folder + "/ld-2.31.so --library-path " + folder + " $PUPPETS/known_calls_old ";
  }

  std::string program_;
};

TEST_F(OldGlibcTest, first_calls_count_once_however_stacks_are_taken) {
  for (const char* options : {"", "--call-graph fp", "--call-graph none"}) {
    run_well("$MEMTRACE record --for malloc " + std::string(options) + " -- " + program_ + "loop");
    const Json loop = report("malloc --by function --top 0");
    EXPECT_EQ(figure_of(loop, "function", "malloc"), 40U) << options;
    run_well("$MEMTRACE record --for malloc " + std::string(options) + " -- " + program_ + "all");
    const Json all = report("malloc --by function --top 0");
    EXPECT_EQ(figure_of(all, "function", "memalign"), 17U) << options;
    EXPECT_EQ(figure_of(all, "function", "posix_memalign"), 7U) << options;
    EXPECT_EQ(figure_of(all, "function", "realloc"), 31U) << options;
    EXPECT_EQ(figure_of(all, "function", "calloc"), 20U) << options;
    EXPECT_EQ(figure_of(all, "function", "malloc"), 40U) << options;
  }
}

TEST_F(OldGlibcTest, children_that_begin_with_a_malloc_count_it_once) {
  run_well("$MEMTRACE record --for malloc,heap,leaks -- " + program_ + "children");
  EXPECT_EQ(report("malloc --by function").at("totals").at("count"), 60U);
  const Json leaks = report("leaks --top 0");
  EXPECT_EQ(sum_with_function(leaks, "use_in_child"), 60U);
  EXPECT_EQ(sum_with_function(leaks, "use_in_child", "bytes"), 60U * 70);
}

TEST_F(OldGlibcTest, nothing_seems_to_leak_that_does_not) {
  for (const char* options : {"", "--call-graph fp", "--call-graph none"}) {
    run_well("$MEMTRACE record --for heap,leaks " + std::string(options) + " -- " + program_ +
             "all");
    const Json heap = report("heap --by function --top 0").at("totals");
    EXPECT_EQ(heap.at("allocs"), 115U) << options;
    EXPECT_EQ(heap.at("leaked"), 4841U) << options;
    const Json leaks = report("leaks --by function --top 0").at("totals");
    EXPECT_EQ(leaks.at("count"), 29U) << options;
    EXPECT_EQ(leaks.at("bytes"), 4841U) << options;
  }
}

TEST_F(OldGlibcTest, one_probe_counts_the_first_call_once_as_well) {
  run_well("$MEMTRACE record --for malloc,leaks --one-probe -- " + program_ + "loop");
  EXPECT_EQ(figure_of(report("malloc --by function --top 0"), "function", "malloc"), 40U);
  EXPECT_EQ(report("leaks --by function").at("totals").at("count"), 10U);
}

}  // namespace
}  // namespace memtrace::test
