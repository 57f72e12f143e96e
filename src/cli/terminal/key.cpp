#include "cli/terminal/key.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kMaxSequenceBytes = 32;  // longer ones are of no key

struct NamedSequence {
  std::string_view bytes;  // behind ESC [ or ESC O
  KeyKind kind;
};

// xterm, the Linux console, screen, tmux, rxvt and vt220 send one of these.
constexpr auto kSequences = std::to_array<NamedSequence>({
    {"A", KeyKind::Up},
    {"B", KeyKind::Down},
    {"C", KeyKind::Right},
    {"D", KeyKind::Left},
    {"H", KeyKind::Home},
    {"F", KeyKind::End},
    {"M", KeyKind::Enter},  // of the numeric keypad, behind ESC O
    {"Z", KeyKind::BackTab},
    {"1~", KeyKind::Home},
    {"4~", KeyKind::End},
    {"5~", KeyKind::PageUp},
    {"6~", KeyKind::PageDown},
    {"7~", KeyKind::Home},
    {"8~", KeyKind::End},
});

std::optional<Key> key_of_byte(char byte) {
  if (byte == '\r' || byte == '\n') {
    return Key{.kind = KeyKind::Enter};
  }
  if (byte == '\t') {
    return Key{.kind = KeyKind::Tab};
  }
  if (byte == '\b' || byte == '\x7f') {
    return Key{.kind = KeyKind::Backspace};
  }
  const auto code = static_cast<unsigned char>(byte);
  constexpr unsigned char kFirstPrinted = 0x20;
  return code < kFirstPrinted ? std::nullopt : std::optional(Key{.character = byte});
}

// "0;12;3" behind ESC [ < and before M, of a button that was pressed (xterm's mode 1006).
std::optional<Key> key_of_mouse(std::string_view numbers) {
  constexpr std::uint64_t kFirstButton = 0;
  constexpr std::uint64_t kWheelUp = 64;
  constexpr std::uint64_t kWheelDown = 65;
  const auto words = split(numbers, ';');
  if (words.size() != 3) {
    return std::nullopt;
  }
  const auto button = parse_number(words[0]);
  const auto column = parse_number(words[1]);
  const auto line = parse_number(words[2]);
  if (!button || !column || !line || *column == 0 || *line == 0) {
    return std::nullopt;
  }
  Key key{.kind = KeyKind::Click, .column = *column - 1, .line = *line - 1};
  if (*button == kWheelUp || *button == kWheelDown) {
    key.kind = *button == kWheelUp ? KeyKind::WheelUp : KeyKind::WheelDown;
    return key;
  }
  return *button == kFirstButton ? std::optional(key) : std::nullopt;
}

std::optional<Key> key_of_sequence(std::string_view sequence) {
  if (sequence.starts_with('<')) {
    return sequence.ends_with('M') ? key_of_mouse(sequence.substr(1, sequence.size() - 2))
                                   : std::nullopt;
  }
  const auto* const found = std::ranges::find(kSequences, sequence, &NamedSequence::bytes);
  return found == kSequences.end() ? std::nullopt : std::optional(Key{.kind = found->kind});
}

// ECMA-48, 5.4: a control sequence ends at the first byte from 0x40 on.
bool ends_sequence(char byte) {
  return byte >= '@' && byte <= '~';
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  waiting_ += bytes;
  std::vector<Key> keys;
  while (!waiting_.empty()) {
    const std::size_t taken = take(keys);
    if (taken == 0) {
      break;
    }
    waiting_.erase(0, taken);
  }
  return keys;
}

std::vector<Key> KeyDecoder::flush() {
  const bool is_escape = waiting_ == std::string_view(&kEscape, 1);
  waiting_.clear();
  return is_escape ? std::vector<Key>{{.kind = KeyKind::Escape}} : std::vector<Key>{};
}

std::size_t KeyDecoder::take(std::vector<Key>& keys) const {
  if (waiting_.front() == kEscape) {
    return take_sequence(keys);
  }
  if (const auto key = key_of_byte(waiting_.front())) {
    keys.push_back(*key);
  }
  return 1;
}

std::size_t KeyDecoder::take_sequence(std::vector<Key>& keys) const {
  if (waiting_.size() == 1) {
    return 0;
  }
  if (waiting_[1] != '[' && waiting_[1] != 'O') {
    keys.push_back({.kind = KeyKind::Escape});
    return 1;
  }
  constexpr std::size_t kIntroducer = 2;
  const auto begin = waiting_.begin() + kIntroducer;
  const auto last = std::find_if(begin, waiting_.end(), ends_sequence);
  if (last == waiting_.end()) {
    return waiting_.size() > kMaxSequenceBytes ? waiting_.size() : 0;
  }
  if (const auto key = key_of_sequence(std::string(begin, last + 1))) {
    keys.push_back(*key);
  }
  return static_cast<std::size_t>(last - waiting_.begin()) + 1;
}

}  // namespace memtrace
