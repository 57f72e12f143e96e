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
  expect_refused("diff $CROWD kmalloc", 2, "two recordings are needed", "memtrace diff");
  expect_refused("diff $CROWD", 2, "two recordings are needed", "memtrace diff");
  expect_refused("diff $CROWD $CROWD --by comm", 2, "--by without a view", "memtrace diff");
  expect_refused("diff $CROWD $CROWD slab --share --per-second",
                 2,
                 "--share beside --per-second",
                 "a share is the same for each second");
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

TEST_F(DiffTest, without_a_view_all_that_both_hold_is_compared) {
  const Outcome same = run("$MEMTRACE diff $CROWD $CROWD");
  EXPECT_NE(same.out.find("Note: nothing has changed of what both recordings hold"),
            std::string::npos)
      << same.all();
  const auto report = diff("$CROWD $DATA/perf/golden.perf.data");
  std::string views;
  for (const auto& nested : report.at("reports")) {
    views += nested.at("view").get<std::string>() + " ";
    EXPECT_LE(nested.at("tables").at(0).at("rows").size(), 3U);
  }
  EXPECT_EQ(views, "kleaks slab ");
}

TEST_F(DiffTest, recordings_without_a_view_in_common_cannot_be_compared) {
  expect_refused("diff $CROWD $DATA/arenas/arenas.data",
                 1,
                 "the two recordings have events of no view in common",
                 "record both with the same --for");
}

// They limit what the changes of that view mean, and only those that all views share stood below.
TEST_F(DiffTest, notes_of_one_view_stand_below_its_changes) {
  const Outcome outcome = run("$MEMTRACE diff --wide $CROWD $DATA/perf/golden.perf.data");
  const std::string note =
      "Note: " + crowd_path() + ": the recording has no frees of pages: all count as outstanding\n";
  const auto at = outcome.out.find(note);
  ASSERT_NE(at, std::string::npos) << outcome.all();
  EXPECT_GT(at, outcome.out.find("== kleaks"));
  EXPECT_LT(at, outcome.out.find("== slab"));
  EXPECT_EQ(outcome.out.find(note, at + 1), std::string::npos) << outcome.all();
}

// Each note once, and of which recording it is.
TEST_F(DiffTest, notes_of_one_recording_name_it) {
  const Outcome outcome = run("$MEMTRACE diff --wide $CROWD $DATA/perf/golden.perf.data");
  const std::string name = TEST_SOURCE_DIR "/data/perf/golden.perf.data";
  EXPECT_NE(outcome.out.find("Note: " + name + ": format of an event"), std::string::npos)
      << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
