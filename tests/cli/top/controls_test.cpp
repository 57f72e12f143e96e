#include "cli/top/controls.h"

#include <gtest/gtest.h>

#include "cli/top/compose.h"
#include "sample_snapshot.h"

namespace memtrace {
namespace {

class TopControls : public testing::Test {
 protected:
  bool type(char character) { return act(state_, {.character = character}); }

  void draw() { compose(state_, snapshot_, {}, namer_); }

  // Of what the last frame shows.
  void click(ClickArea::Target target, std::size_t number) {
    draw();
    for (const ClickArea& area : state_.areas) {
      if (area.target == target && area.number == number) {
        act(state_, {.kind = KeyKind::Click, .column = area.first_column, .line = area.line});
        return;
      }
    }
    ADD_FAILURE() << "nothing to click on";
  }

  TopState state_;
  TopSnapshot snapshot_ = test::sample_snapshot();
  test::FakeNamer namer_;
};

TEST_F(TopControls, tab_goes_round_and_digits_choose) {
  for (const std::size_t pane : {1U, 2U, 3U, 4U, 0U}) {
    act(state_, {.kind = KeyKind::Tab});
    EXPECT_EQ(state_.pane, pane);
  }
  act(state_, {.kind = KeyKind::BackTab});
  EXPECT_EQ(state_.pane, 4U);
  type('2');
  EXPECT_EQ(state_.pane, 1U);
}

TEST_F(TopControls, the_heap_is_a_pane_where_it_is_probed) {
  type('h');
  EXPECT_EQ(state_.pane, 0U);
  EXPECT_NE(state_.message.find("--heap"), std::string::npos);
  type('6');
  EXPECT_EQ(state_.pane, 0U);
  state_.panes.resize(all_panes().size());
  type('h');
  EXPECT_EQ(state_.pane, 5U);
  EXPECT_TRUE(state_.message.empty());
}

TEST_F(TopControls, sorting_goes_through_the_columns_both_ways_and_each_pane_keeps_its_own) {
  EXPECT_EQ(view_of(state_, 0).sort, "pages");
  type('s');
  EXPECT_EQ(view_of(state_, 0).sort, "faults");
  type('<');
  type('<');
  EXPECT_EQ(view_of(state_, 0).sort, "kmalloc");
  type('3');
  EXPECT_EQ(view_of(state_, 2).sort, "bytes");
  for (int i = 0; i < 5; ++i) {
    type('>');
  }
  EXPECT_EQ(view_of(state_, 2).sort, "bytes") << "round";
  EXPECT_EQ(view_of(state_, 0).sort, "kmalloc");
}

TEST_F(TopControls, rates_and_live_are_sorted_apart) {
  type('3');
  type('l');
  EXPECT_EQ(view_of(state_, 2).sort, "live_bytes");
  type('>');
  EXPECT_EQ(view_of(state_, 2).sort, "live_objects");
  type('l');
  EXPECT_EQ(view_of(state_, 2).sort, "bytes");
}

TEST_F(TopControls, another_key_is_another_table_of_the_pane) {
  type('2');
  const std::string_view first = state_.look_of(1).title;
  type('b');
  EXPECT_NE(state_.look_of(1).title, first);
  type('b');
  type('b');
  EXPECT_EQ(state_.look_of(1).title, first);
}

TEST_F(TopControls, a_click_chooses_panes_rows_and_columns) {
  click(ClickArea::Target::Pane, 2);
  EXPECT_EQ(state_.pane, 2U);
  click(ClickArea::Target::Row, 1);
  EXPECT_EQ(state_.current().selected, 1U);
  click(ClickArea::Target::Column, 2);
  EXPECT_EQ(view_of(state_, 2).sort, "allocs");
  EXPECT_EQ(state_.current().selected, 0U);
  EXPECT_TRUE(act(state_, {.kind = KeyKind::Click, .column = 500, .line = 500}));
}

TEST_F(TopControls, rows_end_where_the_table_does) {
  draw();
  act(state_, {.kind = KeyKind::Up});
  EXPECT_EQ(state_.current().selected, 0U);
  act(state_, {.kind = KeyKind::PageDown});
  EXPECT_EQ(state_.current().selected, 2U) << "three processes";
  act(state_, {.kind = KeyKind::WheelUp});
  EXPECT_EQ(state_.current().selected, 1U);
}

TEST_F(TopControls, q_ends_and_closes_the_help_first) {
  type('?');
  ASSERT_TRUE(state_.cover);
  EXPECT_TRUE(type('q'));
  EXPECT_FALSE(state_.cover);
  EXPECT_FALSE(type('q'));
}

TEST_F(TopControls, keys_are_text_while_a_filter_is_typed) {
  type('/');
  EXPECT_TRUE(type('q'));
  EXPECT_TRUE(type(' '));
  EXPECT_EQ(state_.filter.edited, "q ");
  EXPECT_FALSE(state_.paused);
  act(state_, {.kind = KeyKind::Escape});
  EXPECT_FALSE(state_.filter.edited);
  EXPECT_FALSE(state_.filter.pattern);
}

TEST_F(TopControls, backspace_takes_a_whole_character_back) {
  type('/');
  for (const char byte : std::string("a\xc3\xa9")) {
    type(byte);
  }
  act(state_, {.kind = KeyKind::Backspace});
  EXPECT_EQ(state_.filter.edited, "a");
  act(state_, {.kind = KeyKind::Backspace});
  act(state_, {.kind = KeyKind::Backspace});
  EXPECT_EQ(state_.filter.edited, "");
}

TEST_F(TopControls, space_pauses_and_goes_on) {
  type(' ');
  EXPECT_TRUE(state_.paused);
  type(' ');
  EXPECT_FALSE(state_.paused);
}

TEST_F(TopControls, sort_takes_names_of_columns_and_what_heads_them) {
  EXPECT_TRUE(sort_by(state_, "faults/s").ok());
  EXPECT_EQ(view_of(state_, 0).sort, "faults");
  EXPECT_TRUE(sort_by(state_, "rss").ok());
  const auto bad = sort_by(state_, "colour");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::Usage);
  EXPECT_NE(bad.error().hint.find("kmalloc"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
