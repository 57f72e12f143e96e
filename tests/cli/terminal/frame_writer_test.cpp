#include "cli/terminal/frame_writer.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

ScreenFrame frame_of(std::initializer_list<std::string> lines) {
  ScreenFrame frame;
  for (const std::string& line : lines) {
    frame.lines.push_back({{.text = line}});
  }
  return frame;
}

TEST(FrameWriter, the_first_frame_clears_the_screen_and_writes_all_lines) {
  FrameWriter writer;
  EXPECT_EQ(writer.update(frame_of({"a", "b"})),
            "\x1b[0m\x1b[2J"
            "\x1b[1;1H\x1b[0ma\x1b[0m"
            "\x1b[2;1H\x1b[0mb\x1b[0m");
}

TEST(FrameWriter, only_lines_that_differ_are_sent) {
  FrameWriter writer;
  writer.update(frame_of({"a", "b", "c"}));
  EXPECT_EQ(writer.update(frame_of({"a", "B", "c"})), "\x1b[2;1H\x1b[0mB\x1b[0m");
  EXPECT_EQ(writer.update(frame_of({"a", "B", "c"})), "");
}

TEST(FrameWriter, another_size_and_a_disturbed_screen_are_drawn_from_scratch) {
  FrameWriter writer;
  writer.update(frame_of({"a", "b"}));
  EXPECT_NE(writer.update(frame_of({"a"})).find("\x1b[2J"), std::string::npos);
  writer.forget();
  EXPECT_NE(writer.update(frame_of({"a"})).find("\x1b[2J"), std::string::npos);
}

TEST(FrameWriter, a_style_ends_where_its_piece_does) {
  FrameWriter writer;
  ScreenFrame frame;
  frame.lines.push_back({{"on", TextStyle::Reverse}, {"off"}, {"bold", TextStyle::Bold}});
  const std::string bytes = writer.update(frame);
  EXPECT_NE(bytes.find("\x1b[0;7mon\x1b[0moff\x1b[0;1mbold\x1b[0m"), std::string::npos);
}

TEST(ScreenFrame, text_has_no_styles_and_no_blanks_at_the_ends_of_lines) {
  ScreenFrame frame;
  frame.lines.push_back({{"a ", TextStyle::Reverse}, {"b  "}});
  frame.lines.push_back({{"   "}});
  EXPECT_EQ(text_of(frame), "a b\n\n");
}

}  // namespace
}  // namespace memtrace
