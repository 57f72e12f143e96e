#include "render/ink.h"

#include <algorithm>
#include <utility>

#include "base/visible.h"

namespace memtrace {
namespace {

// Control characters, which visible() leaves in no name: a mark is kBegin, the ink, text, kEnd.
constexpr char kBegin = '\x01';
constexpr char kEnd = '\x02';

int ink_place() {
  static const int place = std::ios_base::xalloc();
  return place;
}

std::string_view sequence_of(char ink) {
  switch (Ink{ink}) {
    case Ink::Title:
    case Ink::Header:
      return "\x1b[1m";
    case Ink::Caveat:
      return "\x1b[33m";
    case Ink::Large:
      return "\x1b[31m";
    case Ink::Small:
      return "\x1b[32m";
    case Ink::Plain:
      break;
  }
  return "";
}

// Takes what stands before the character, and the character, off the text.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

}  // namespace

void take_ink(std::ostream& out) {
  out.iword(ink_place()) = 1;
}

std::string inked(std::string text, Ink ink, std::ostream& out) {
  if (out.iword(ink_place()) == 0 || text.empty() || ink == Ink::Plain) {
    return text;
  }
  return std::string{kBegin, static_cast<char>(ink)} + std::move(text) + kEnd;
}

std::string painted(std::string_view lines) {
  constexpr std::string_view kPlain = "\x1b[m";
  std::string text;
  while (!lines.empty()) {
    text += visible_lines(take_until(lines, kBegin));
    if (lines.empty()) {
      break;
    }
    const std::string_view sequence = sequence_of(lines.front());
    lines.remove_prefix(1);
    text += sequence;
    text += visible_lines(take_until(lines, kEnd));
    text += sequence.empty() ? "" : kPlain;
  }
  return text;
}

}  // namespace memtrace
