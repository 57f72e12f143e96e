// Lines as they happen: reports of one table each, whose rows follow those of the reports before.
// Unlike a Renderer it knows what it has written, and so when a header is due.
#pragma once

#include <cstddef>
#include <ostream>

#include "report/report.h"

namespace memtrace {

class LineRenderer {
 public:
  LineRenderer() = default;
  LineRenderer(const LineRenderer&) = delete;
  LineRenderer& operator=(const LineRenderer&) = delete;
  LineRenderer(LineRenderer&&) = delete;
  LineRenderer& operator=(LineRenderer&&) = delete;
  virtual ~LineRenderer() = default;

  // All rows of the report's first table. A header comes anew if there are more columns than
  // before, or fewer.
  virtual void render(const Report& lines, std::ostream& out) = 0;
};

// What a column takes of a line of text, but for rare values.
std::size_t line_width(const Report& lines, const Column& column);

struct LineOptions {
  std::size_t columns = 100;    // width of frames below a line of text; lines are never cut
  std::size_t screen_rows = 0;  // text: lines between two headers; 0: one header
};

}  // namespace memtrace
