// Frames to the escape sequences that all terminals of today know (ECMA-48): no terminal database
// is asked, as the static program runs where there is none.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/frame.h"

namespace memtrace {

class FrameWriter {
 public:
  // What turns the frame before into this one, whose lines are as wide as the screen: only lines
  // that differ. All of it for another size, and after forget().
  std::string update(const ScreenFrame& frame);

  // Something else wrote on the screen.
  void forget() { shown_.clear(); }

 private:
  std::vector<std::string> shown_;  // lines with their sequences
};

}  // namespace memtrace
