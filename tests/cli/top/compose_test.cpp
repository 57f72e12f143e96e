#include "cli/top/compose.h"

#include <gtest/gtest.h>

#include "cli/top/action.h"
#include "cli/top/controls.h"
#include "render/text_line.h"
#include "sample_snapshot.h"

namespace memtrace {
namespace {

constexpr std::size_t kStacksPane = 1;
constexpr std::size_t kSlabPane = 2;

class Compose : public testing::Test {
 protected:
  Compose() {
    test::name_stacks(namer_);
    state_.target = "the whole machine";
    state_.interval = "2.00 s";
  }

  std::string shown(ScreenSize size = {}) {
    frame_ = compose(state_, snapshot_, size, namer_);
    return text_of(frame_);
  }

  void type(std::string_view text) {
    for (const char character : text) {
      act(state_, {.character = character});
    }
  }

  std::string line(std::size_t number) const { return text_of(frame_.lines.at(number)); }

  TopState state_;
  TopSnapshot snapshot_ = test::sample_snapshot();
  test::FakeNamer namer_;
  ScreenFrame frame_;
};

TEST_F(Compose, fills_every_size_of_screen_exactly) {
  for (const ScreenSize size :
       {ScreenSize{80, 24}, {120, 40}, {200, 60}, {40, 10}, {20, 3}, {5, 2}, {1, 1}}) {
    for (state_.pane = 0; state_.pane < state_.panes.size(); ++state_.pane) {
      shown(size);
      ASSERT_EQ(frame_.lines.size(), size.lines);
      for (const FrameLine& line : frame_.lines) {
        EXPECT_EQ(width_of(text_of(line)), size.columns) << text_of(line);
      }
    }
  }
}

TEST_F(Compose, first_lines_say_when_and_whom_and_which_pane) {
  shown();
  EXPECT_EQ(line(0).substr(0, 57), "memtrace top  14:03:59  the whole machine  every 2.00 s  ");
  EXPECT_EQ(line(1).substr(0, 53), " 1 processes  2 stacks  3 slab  4 faults  5 reclaim  ");
  EXPECT_EQ(frame_.lines[1][0].style, TextStyle::Reverse);
  EXPECT_EQ(frame_.lines[1][1].style, TextStyle::Plain);
  EXPECT_EQ(line(23).substr(73), " q quit") << "the help fits into 80 columns";
}

TEST_F(Compose, a_stack_begins_behind_the_functions_of_the_allocator) {
  state_.pane = kStacksPane;
  EXPECT_NE(shown().find(" load_elf_binary"), std::string::npos);
  EXPECT_EQ(shown().find("__kmalloc"), std::string::npos);
  namer_.stacks[StackId{2}] = test::frames({"__kmalloc_noprof", "alloc_pages_mpol"});
  EXPECT_NE(shown().find(" alloc_pages_mpol"), std::string::npos) << "one is left";
}

TEST_F(Compose, events_that_were_lost_are_in_the_first_line) {
  snapshot_.reports[0].caveats.lost = 12;
  shown({.columns = 120, .lines = 24});
  EXPECT_NE(line(0).find("Lost: 12 events (kernel ring full 12)."), std::string::npos) << line(0);
}

TEST_F(Compose, rates_are_of_one_second_and_sorted_largest_first) {
  state_.pane = kSlabPane;
  shown();
  EXPECT_EQ(line(3).substr(0, 45), "cache         bytes/s* allocs/s frees/s     l");
  EXPECT_EQ(line(4).substr(0, 40), "filp        1000.0 KiB    1,000     0.5 ");
  EXPECT_EQ(line(6).substr(0, 40), "dentry         5.0 KiB        5     0.5 ");
}

TEST_F(Compose, what_is_live_is_a_key_away) {
  state_.pane = kSlabPane;
  type("l");
  shown();
  EXPECT_EQ(line(2).substr(0, 26), "slab caches, live: 3 rows;");
  EXPECT_NE(line(4).find("evil"), std::string::npos) << line(4);
  EXPECT_NE(line(5).find("dentry"), std::string::npos) << line(5);
}

TEST_F(Compose, only_a_pane_that_has_both_says_which_it_shows) {
  state_.pane = 3;
  shown();
  EXPECT_EQ(line(2).substr(0, 28), "page faults by class: 0 rows");
}

TEST_F(Compose, bytes_that_control_terminals_are_shown_as_text) {
  state_.pane = kSlabPane;
  EXPECT_EQ(shown().find('\x1b'), std::string::npos);
  EXPECT_NE(shown().find("evil\\x1b[2J"), std::string::npos);
  type("/\x1f");
  state_.filter.edited = "a\x1b[2J";
  EXPECT_EQ(shown().find('\x1b'), std::string::npos);
}

TEST_F(Compose, a_stack_is_one_line_and_enter_shows_all_of_it) {
  state_.pane = kStacksPane;
  EXPECT_NE(shown().find(" d_alloc < path_openat"), std::string::npos);
  act(state_, {.kind = KeyKind::Down});
  act(state_, {.kind = KeyKind::Enter});
  const std::string detail = shown();
  EXPECT_NE(detail.find("allocs             10\n"), std::string::npos) << detail;
  EXPECT_NE(detail.find("  kmem_cache_alloc\n  d_alloc\n  path_openat\n"), std::string::npos);
  act(state_, {.kind = KeyKind::Escape});
  EXPECT_NE(shown().find("slab objects by stack"), std::string::npos);
}

TEST_F(Compose, a_filter_looks_at_names_keys_and_functions_of_stacks) {
  state_.pane = kStacksPane;
  type("/elf_bin");
  EXPECT_NE(shown().find("filter: elf_bin_"), std::string::npos);
  act(state_, {.kind = KeyKind::Enter});
  EXPECT_NE(shown().find("slab objects by stack, rates: 1 row with elf_bin"), std::string::npos);
  EXPECT_EQ(shown().find("d_alloc"), std::string::npos);
  state_.pane = 0;
  type("/");
  for (int i = 0; i < 7; ++i) {
    act(state_, {.kind = KeyKind::Backspace});
  }
  type("^300$");
  act(state_, {.kind = KeyKind::Enter});
  EXPECT_NE(shown().find("1 row with ^300$"), std::string::npos) << "a pid is a key";
  act(state_, {.kind = KeyKind::Escape});
  EXPECT_NE(shown().find(": 3 rows"), std::string::npos);
}

TEST_F(Compose, a_bad_filter_is_said_at_the_bottom_until_the_next_key) {
  type("/(");
  act(state_, {.kind = KeyKind::Enter});
  shown();
  EXPECT_NE(line(23).find("missing"), std::string::npos) << line(23);
  type("j");
  shown();
  EXPECT_NE(line(23).find("q quit"), std::string::npos);
}

TEST_F(Compose, the_chosen_row_is_on_the_page) {
  Table& table = snapshot_.processes;
  table.rows.clear();
  for (std::uint64_t pid = 1; pid <= 100; ++pid) {
    table.rows.push_back({pid, "p" + std::to_string(pid), {}, 1000 - pid, {}, {}, {}, {}});
  }
  shown();
  act(state_, {.kind = KeyKind::End});
  EXPECT_NE(shown().find("p100"), std::string::npos);
  EXPECT_EQ(frame_.lines[22].at(0).style, TextStyle::Reverse) << "the last line above the help";
  act(state_, {.kind = KeyKind::PageUp});
  EXPECT_NE(shown().find("p81"), std::string::npos);
  act(state_, {.kind = KeyKind::Home});
  EXPECT_NE(shown().find("p1 "), std::string::npos);
  EXPECT_EQ(frame_.lines[4].at(0).style, TextStyle::Reverse);
}

TEST_F(Compose, fewer_rows_than_before_leave_a_row_chosen) {
  shown();
  act(state_, {.kind = KeyKind::End});
  snapshot_.processes.rows.resize(1);
  shown();
  EXPECT_EQ(state_.current().selected, 0U);
  snapshot_.processes.rows.clear();
  EXPECT_NE(shown().find("(no rows)"), std::string::npos);
}

TEST_F(Compose, two_panes_from_40_lines_on) {
  EXPECT_EQ(shown({.columns = 80, .lines = 39}).find("slab objects"), std::string::npos);
  const std::string two = shown({.columns = 80, .lines = 40});
  EXPECT_NE(two.find("resident memory, rates: 3 rows"), std::string::npos) << two;
  EXPECT_NE(two.find("slab objects by stack, rates: 2 rows"), std::string::npos) << two;
}

TEST_F(Compose, columns_that_do_not_fit_are_left_out_whole) {
  state_.pane = kSlabPane;
  shown({.columns = 34, .lines = 24});
  EXPECT_EQ(line(3), "cache         bytes/s* allocs/s   ");
}

TEST_F(Compose, help_lists_every_key_of_the_table) {
  type("?");
  const std::string help = shown({.columns = 80, .lines = 40});
  for (const KeyBinding& binding : key_bindings()) {
    EXPECT_NE(help.find(std::string(binding.help)), std::string::npos) << binding.help;
  }
}

TEST_F(Compose, notes_of_the_view_are_below_its_rows) {
  state_.pane = kSlabPane;
  snapshot_.reports[6].caveats.notes = {"what is live is not known"};
  EXPECT_NE(shown().find("\nNote: what is live is not known\n"), std::string::npos);
}

TEST_F(Compose, batch_has_the_heading_and_the_rows_alone) {
  state_.pane = kSlabPane;
  const ScreenFrame frame = compose_batch(state_, snapshot_, {.columns = 80, .lines = 4}, namer_);
  ASSERT_EQ(frame.lines.size(), 5U);
  EXPECT_EQ(text_of(frame.lines[3]).substr(0, 4), "filp");
  EXPECT_EQ(text_of(frame).find("q quit"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
