// What each key does: one table, for the screen, its help and the man page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "cli/terminal/key.h"

namespace memtrace {

enum class TopAction : std::uint8_t {
  NextPane,
  PreviousPane,
  ChoosePane,  // by the digit
  RowUp,
  RowDown,
  PageUp,
  PageDown,
  FirstRow,
  LastRow,
  NextColumn,
  PreviousColumn,
  Filter,
  Pause,
  Detail,
  NextLook,
  Live,
  Heap,
  Help,
  Back,
  Redraw,
  Quit
};

struct KeyBinding {
  KeyKind kind = KeyKind::Character;
  char character = 0;
  TopAction action{};
  std::string_view shown{};  // "Tab"; "": the help says it with another key
  std::string_view help{};   // "next pane"
};

std::span<const KeyBinding> key_bindings();

// Nothing for a key that does nothing, and for the mouse.
std::optional<TopAction> action_of(const Key& key);

}  // namespace memtrace
