// What a screen shows, as text: lines of styled pieces, and what a click on each place means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace {

enum class TextStyle : std::uint8_t { Plain, Bold, Reverse };

// Text that is fit to be printed (base/visible.h).
struct FramePiece {
  std::string text;
  TextStyle style = TextStyle::Plain;
};

using FrameLine = std::vector<FramePiece>;

struct ClickArea {
  enum class Target : std::uint8_t { Pane, Column, Row };

  std::size_t line = 0;
  std::size_t first_column = 0;
  std::size_t limit_column = 0;
  Target target{};
  std::size_t number = 0;  // of the pane, the shown column or the row

  bool contains(std::size_t at_line, std::size_t at_column) const {
    return at_line == line && at_column >= first_column && at_column < limit_column;
  }
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;

  bool operator==(const ScreenSize&) const = default;
};

struct ScreenFrame {
  std::vector<FrameLine> lines;
  std::vector<ClickArea> areas;
};

// The line without its styles.
std::string text_of(const FrameLine& line);

// The text of all lines, without blanks at their ends, a newline behind each.
std::string text_of(const ScreenFrame& frame);

}  // namespace memtrace
