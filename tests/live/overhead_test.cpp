// --max-overhead: fewer samples, figures that stay true within their bars, and probes that are
// refused where each hit costs too much.
#include <cmath>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class OverheadTest : public LiveTest {
 protected:
  static std::string notes_of(const Json& report) { return report.at("caveats").dump(); }
};

// 400,000 kmallocs of 1048 bytes (puppets/many_kmallocs.cpp), and few others of other sizes.
TEST_F(OverheadTest, a_sampled_count_lies_within_its_bar_of_the_truth) {
  constexpr double kTruth = 400'000;
  run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 3% -- $PUPPETS/many_kmallocs 400000");
  const Json kmalloc = report("kmalloc --by size --top 0");
  const Json table = kmalloc.at("tables").at(0);
  const Json* messages = nullptr;
  for (const Json& row : table.at("rows")) {
    messages = row.dump().find("1048") != std::string::npos ? &row : messages;
  }
  ASSERT_NE(messages, nullptr) << table.dump();
  const double count = messages->at("count").get<double>();
  const double percent = messages->at("error").get<double>();
  EXPECT_GT(percent, 0);
  EXPECT_LT(percent, 25);
  // A bar of 95 % twice as long is left by one run of 10,000.
  EXPECT_NEAR(count, kTruth, kTruth * 2 * percent / 100) << notes_of(kmalloc);
  EXPECT_NE(notes_of(kmalloc).find("to keep the overhead below 3 %"), std::string::npos);
  EXPECT_NE(notes_of(kmalloc).find("estimated overhead: "), std::string::npos);
}

TEST_F(OverheadTest, a_program_that_does_little_is_recorded_whole) {
  run_well(
      "$PUPPETS/touch_pages 1 2>/dev/null >/dev/null\n"
      "(exec sh -c 'i=0; while [ $i -lt 30 ]; do i=$((i+1)); sleep 0.1; done') & worker=$!\n"
      "$MEMTRACE record -e kmem:kmalloc --max-overhead 50% -d 1 -p $worker; kill $worker");
  const Json kmalloc = report("kmalloc");
  EXPECT_EQ(notes_of(kmalloc).find("to keep the overhead below"), std::string::npos)
      << notes_of(kmalloc);
  EXPECT_EQ(kmalloc.dump().find("\"error\""), std::string::npos);
}

TEST_F(OverheadTest, probes_whose_hits_cost_too_much_are_refused) {
  const Outcome outcome =
      run("$PUPPETS/heap_storm 1 100000000 >/dev/null & storm=$!; sleep 0.3\n"
          "$MEMTRACE record --for malloc --max-overhead 1% -d 1 -p $storm; status=$?\n"
          "kill $storm; exit $status");
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("times a second")) << outcome.all();
  EXPECT_TRUE(outcome.says("1 % is the limit")) << outcome.all();
  EXPECT_TRUE(outcome.says("growth")) << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
