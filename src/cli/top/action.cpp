#include "cli/top/action.h"

#include <algorithm>
#include <array>

namespace memtrace {
namespace {

constexpr auto kBindings = std::to_array<KeyBinding>({
    {KeyKind::Tab, 0, TopAction::NextPane, "Tab", "the next pane; Shift-Tab: the one before"},
    {KeyKind::BackTab, 0, TopAction::PreviousPane},
    {KeyKind::Character, '1', TopAction::ChoosePane, "1 to 5", "the pane of this number"},
    {KeyKind::Character, '2', TopAction::ChoosePane},
    {KeyKind::Character, '3', TopAction::ChoosePane},
    {KeyKind::Character, '4', TopAction::ChoosePane},
    {KeyKind::Character, '5', TopAction::ChoosePane},
    {KeyKind::Character, '6', TopAction::ChoosePane},
    {KeyKind::Character, 'h', TopAction::Heap, "h or 6", "the heap of a process, with --heap"},
    {KeyKind::Character, 'b', TopAction::NextLook, "b", "group the pane by another key"},
    {KeyKind::Character, 'l', TopAction::Live, "l", "rates, or what is live"},
    {KeyKind::Character, '>', TopAction::NextColumn, "> or s", "sort by the next column"},
    {KeyKind::Character, 's', TopAction::NextColumn},
    {KeyKind::Right, 0, TopAction::NextColumn},
    {KeyKind::Character, '<', TopAction::PreviousColumn, "<", "sort by the column before"},
    {KeyKind::Left, 0, TopAction::PreviousColumn},
    {KeyKind::Character, '/', TopAction::Filter, "/", "only rows that match a regular expression"},
    {KeyKind::Character, ' ', TopAction::Pause, "Space", "pause the screen, or go on"},
    {KeyKind::Up,
     0,
     TopAction::RowUp,
     "Up, Down",
     "choose a row; also PageUp, PageDown, Home, End"},
    {KeyKind::Down, 0, TopAction::RowDown},
    {KeyKind::Character, 'k', TopAction::RowUp},
    {KeyKind::Character, 'j', TopAction::RowDown},
    {KeyKind::PageUp, 0, TopAction::PageUp},
    {KeyKind::PageDown, 0, TopAction::PageDown},
    {KeyKind::Home, 0, TopAction::FirstRow},
    {KeyKind::End, 0, TopAction::LastRow},
    {KeyKind::WheelUp, 0, TopAction::RowUp},
    {KeyKind::WheelDown, 0, TopAction::RowDown},
    {KeyKind::Enter,
     0,
     TopAction::Detail,
     "Enter",
     "all of the row: each figure, and its whole stack"},
    {KeyKind::Escape, 0, TopAction::Back, "Escape", "back to the table, then without the filter"},
    {KeyKind::Character, '?', TopAction::Help, "?", "this help"},
    {KeyKind::Character, 'r', TopAction::Redraw, "r", "draw the screen again"},
    {KeyKind::Character, 'q', TopAction::Quit, "q", "end"},
});

}  // namespace

std::span<const KeyBinding> key_bindings() {
  return kBindings;
}

std::optional<TopAction> action_of(const Key& key) {
  const auto* const found = std::ranges::find_if(kBindings, [&key](const KeyBinding& binding) {
    return binding.kind == key.kind && binding.character == key.character;
  });
  return found == kBindings.end() ? std::nullopt : std::optional(found->action);
}

}  // namespace memtrace
