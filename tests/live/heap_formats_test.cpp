// The heap of a known program in the formats of other tools, opened by these tools.
#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

class HeapFormatsTest : public HeapLiveTest {
 protected:
  void SetUp() override {
    HeapLiveTest::SetUp();
    if (!IsSkipped()) {
      run_well("$MEMTRACE record --for heap -- $PUPPETS/heap_costs");
    }
  }

  std::uint64_t total(const std::string& name) { return report("heap").at("totals").at(name); }
};

TEST_F(HeapFormatsTest, ms_print_shows_the_peak_and_what_is_left) {
  if (run("command -v ms_print").status != 0) {
    GTEST_SKIP() << "ms_print is not installed (Debian: valgrind)";
  }
  run_well("$MEMTRACE report heap --format massif -o heap.massif");
  const std::string shown = run_well("ms_print heap.massif").out;
  EXPECT_EQ(total("peak"), 1499500U);
  EXPECT_NE(shown.find("1,499,500"), std::string::npos) << shown;
  EXPECT_NE(shown.find("(peak)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("100.00% (1,499,500B) (heap allocation functions)"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("100.00% (194,950B) (heap allocation functions)"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("::grow() ("), std::string::npos) << shown;
}

// heaptrack_print prints three digits of large figures.
TEST_F(HeapFormatsTest, heaptrack_print_shows_the_same_sums) {
  if (run("heaptrack --version").status != 0) {
    GTEST_SKIP() << "heaptrack is not installed";
  }
  run_well("$MEMTRACE report heap --format heaptrack -o heap.heaptrack");
  const std::string shown = run_well("heaptrack_print -f heap.heaptrack").out;
  EXPECT_NE(shown.find("\ncalls to allocation functions: 1599 "), std::string::npos) << shown;
  EXPECT_NE(shown.find("\ntemporary memory allocations: 599 "), std::string::npos) << shown;
  EXPECT_NE(shown.find("\npeak heap memory consumption: 1.50M\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\ntotal memory leaked: 194.95K\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("grow()"), std::string::npos) << shown;
  // A leak of exactly 100 blocks, by the stack that has them.
  const std::string leaks = run_well("heaptrack_print -l 1 -f heap.heaptrack").out;
  EXPECT_NE(leaks.find("194.95K leaked over "), std::string::npos) << leaks;
}

// The view counts since the recording began; halves of its page are of their own time all the same.
TEST_F(HeapFormatsTest, two_halves_of_the_page_add_up_to_the_whole) {
  if (run("command -v chromium").status != 0) {
    GTEST_SKIP() << "chromium is not installed";
  }
  run_well("$MEMTRACE report heap --format html -o heap.html");
  const std::string script =
      "sh " READERS_FOLDER "/browser.sh heap.html " READERS_FOLDER "/halves.js";
  const Json seen = Json::parse(run_well(script).out);
  EXPECT_EQ(seen.at("wrong"), Json::array());
  EXPECT_GT(seen.at("sums"), 30) << seen;
  EXPECT_EQ(seen.at("blank"), Json::array({"heap, by stack, peak"}));
  EXPECT_EQ(seen.at("texts").at(0).at(3), "") << "nothing is of the whole recording: " << seen;
}

}  // namespace
}  // namespace memtrace::test
