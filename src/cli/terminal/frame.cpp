#include "cli/terminal/frame.h"

namespace memtrace {

std::string text_of(const FrameLine& line) {
  std::string text;
  for (const FramePiece& piece : line) {
    text += piece.text;
  }
  return text;
}

std::string text_of(const ScreenFrame& frame) {
  std::string text;
  for (const FrameLine& line : frame.lines) {
    std::string one = text_of(line);
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + "\n";
  }
  return text;
}

}  // namespace memtrace
