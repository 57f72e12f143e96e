#include "cli/terminal/frame_writer.h"

#include <fmt/core.h>

#include <string_view>

namespace memtrace {
namespace {

// SGR: which attributes follow.
std::string_view sequence_of(TextStyle style) {
  switch (style) {
    case TextStyle::Bold:
      return "\x1b[0;1m";
    case TextStyle::Reverse:
      return "\x1b[0;7m";
    case TextStyle::Plain:
      break;
  }
  return "\x1b[0m";
}

std::string bytes_of(const FrameLine& line) {
  std::string bytes;
  for (const FramePiece& piece : line) {
    bytes += sequence_of(piece.style);
    bytes += piece.text;
  }
  return bytes;
}

}  // namespace

std::string FrameWriter::update(const ScreenFrame& frame) {
  constexpr std::string_view kClear = "\x1b[0m\x1b[2J";  // ED: the whole page
  std::string bytes;
  if (shown_.size() != frame.lines.size()) {
    shown_.assign(frame.lines.size(), "");
    bytes += kClear;
  }
  for (std::size_t i = 0; i < frame.lines.size(); ++i) {
    std::string line = bytes_of(frame.lines[i]);
    if (line != shown_[i]) {
      // CUP to the line's begin. No EL behind the text, which is as wide as the screen: the cursor
      // stays on the last column, and that would be erased.
      bytes += fmt::format("\x1b[{};1H{}\x1b[0m", i + 1, line);
      shown_[i] = std::move(line);
    }
  }
  return bytes;
}

}  // namespace memtrace
