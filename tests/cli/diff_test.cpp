// memtrace diff: two recordings of one program.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace memtrace::test {
namespace {

class DiffTest : public ProgramTest {
 protected:
  nlohmann::json diff(const std::string& words) {
    const Outcome outcome = run("$MEMTRACE diff " + words + " --format json");
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    return outcome.status == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
  }
};

TEST_F(DiffTest, recording_does_not_differ_from_itself) {
  for (const char* view : {"kmalloc", "slab --by cache", "faults --by comm", "pages --by stack"}) {
    const auto report = diff(std::string("$CROWD $CROWD ") + view);
    EXPECT_TRUE(report.at("tables").at(0).at("rows").empty()) << view;
  }
}

TEST_F(DiffTest, words_that_are_missing_or_wrong_are_refused) {
  expect_refused("diff $CROWD kmalloc", 2, "two recordings and a view are needed", "memtrace diff");
  expect_refused("diff $CROWD $CROWD", 2, "two recordings and a view are needed", "memtrace diff");
  expect_refused("diff $CROWD $CROWD kmaloc", 2, "unknown view 'kmaloc'", "did you mean kmalloc");
  expect_refused("diff $CROWD none.data kmalloc", 1, "open(none.data)", "");
  const Outcome no_events = run("$MEMTRACE diff $CROWD $CROWD oom");
  EXPECT_EQ(no_events.status, 1);
  EXPECT_TRUE(no_events.says("crowd.data has no events for the view oom")) << no_events.all();
  expect_refused("diff $CROWD $CROWD kmalloc --sort comm",
                 2,
                 "the view kmalloc has no figure 'comm'",
                 "figures are");
}

}  // namespace
}  // namespace memtrace::test
