// Keys and mouse buttons as a terminal sends them: bytes and escape sequences (ECMA-48, xterm's
// control sequences).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

enum class KeyKind : std::uint8_t {
  Character,
  Up,
  Down,
  Left,
  Right,
  PageUp,
  PageDown,
  Home,
  End,
  Enter,
  Tab,
  BackTab,
  Backspace,
  Escape,
  Click,  // of the first mouse button
  WheelUp,
  WheelDown
};

struct Key {
  KeyKind kind = KeyKind::Character;
  char character = 0;      // of Character: one byte of UTF-8
  std::size_t column = 0;  // of Click, from 0 on
  std::size_t line = 0;

  bool operator==(const Key&) const = default;
};

// A sequence may come in several pieces, over a slow line.
class KeyDecoder {
 public:
  // The keys that are complete. What is not known is left out.
  std::vector<Key> feed(std::string_view bytes);

  // Nothing came for a while: an escape byte alone was the key Escape.
  std::vector<Key> flush();

 private:
  // Bytes of the first key of `waiting_`, 0 while it is not complete.
  std::size_t take(std::vector<Key>& keys) const;
  std::size_t take_sequence(std::vector<Key>& keys) const;

  std::string waiting_;
};

}  // namespace memtrace
