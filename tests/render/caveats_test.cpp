#include "render/caveats.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

using Lines = std::vector<std::string>;

TEST(Caveats, nothing_lost_is_said_too) {
  EXPECT_EQ(caveat_lines({}), Lines{"Lost: none."});
}

TEST(Caveats, losses_are_added_up_and_told_by_cause) {
  EXPECT_EQ(caveat_lines({.lost = 1200, .late = 34, .overload = 1, .malformed = 2, .disk_full = 3}),
            Lines{"Lost: 1,240 events (kernel ring full 1,200, late 34, dropped under overload 1, "
                  "malformed 2, no room on disk 3)."});
  EXPECT_EQ(caveat_lines({.late = 1}), Lines{"Lost: 1 event (late 1)."});
}

TEST(Caveats, cut_stacks_and_unmatched_frees_are_no_losses) {
  EXPECT_EQ(caveat_lines({.cut = 1, .unmatched = 1000}),
            (Lines{"Lost: none.",
                   "Cut short under overload: 1 stack.",
                   "Unmatched: 1,000 frees of blocks that were allocated before the recording."}));
}

TEST(Caveats, frees_of_blocks_that_were_left_out_say_why) {
  EXPECT_EQ(caveat_lines({.unmatched = 1, .unmatched_why = "not sampled"}),
            (Lines{"Lost: none.", "Unmatched: 1 free of a block that was not sampled."}));
}

TEST(Caveats, each_note_is_a_line) {
  EXPECT_EQ(caveat_lines({.notes = {"a", "b"}}), (Lines{"Lost: none.", "Note: a", "Note: b"}));
}

}  // namespace
}  // namespace memtrace
