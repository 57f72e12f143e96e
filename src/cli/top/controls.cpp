#include "cli/top/controls.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/top/action.h"

namespace memtrace {
namespace {

void choose_pane(TopState& state, std::size_t pane) {
  if (pane < state.panes.size()) {
    state.pane = pane;
    state.cover.reset();
  }
}

// Probes are set before a session begins: without them the key says how to have them.
void choose_heap(TopState& state) {
  if (state.has_heap()) {
    choose_pane(state, all_panes().size() - 1);
    return;
  }
  state.message = "the heap of a process needs probes: memtrace top -p PID --heap";
}

// Down by `rows`, or up; what covers the tables scrolls in their place.
void move(TopState& state, std::ptrdiff_t rows) {
  const auto moved = [rows](std::size_t from, std::size_t count) {
    const auto last = static_cast<std::ptrdiff_t>(count == 0 ? 0 : count - 1);
    const auto to = std::clamp(static_cast<std::ptrdiff_t>(from) + rows, std::ptrdiff_t{0}, last);
    return static_cast<std::size_t>(to);
  };
  if (state.cover) {
    state.cover->first = moved(state.cover->first, state.cover->lines.size());
    return;
  }
  state.current().selected = moved(state.current().selected, state.row_count);
}

void start_at_top(TopState& state) {
  state.current().selected = 0;
  state.current().first_row = 0;
}

void sort_next(TopState& state, std::ptrdiff_t step) {
  const PaneView view = view_of(state, state.pane);
  const auto columns = columns_of(view);
  const auto* const found = std::ranges::find(columns, view.sort, &PaneColumn::name).base();
  const auto count = static_cast<std::ptrdiff_t>(columns.size());
  const auto next = (found - columns.data() + step + count) % count;
  static_cast<void>(sort_by(state, std::string(columns[static_cast<std::size_t>(next)].name)));
  start_at_top(state);
}

void next_look(TopState& state) {
  PaneState& own = state.current();
  own = {.look = (own.look + 1) % all_panes()[state.pane].looks.size()};
  state.cover.reset();
}

// One step for each Escape: what covers the tables, then the filter.
void go_back(TopState& state) {
  if (state.cover) {
    state.cover.reset();
    return;
  }
  state.filter = {};
}

void open_help(TopState& state) {
  ScreenCover help{.title = "keys"};
  for (const KeyBinding& binding : key_bindings()) {
    if (!binding.shown.empty()) {
      help.lines.push_back(fmt::format("{:<10} {}", binding.shown, binding.help));
    }
  }
  help.lines.emplace_back("");
  help.lines.emplace_back("A click chooses a pane, a row, or the column to sort by.");
  help.lines.emplace_back("A star marks the column that sorts. Figures with /s are of one second.");
  help.lines.emplace_back("memtrace help top shows the man page.");
  state.cover = std::move(help);
}

// Those that need more than the state itself are below.
void do_movement(TopState& state, TopAction action) {
  const auto page = static_cast<std::ptrdiff_t>(state.page);
  const auto all = static_cast<std::ptrdiff_t>(
      std::max(state.row_count, state.cover ? state.cover->lines.size() : 0));
  using enum TopAction;
  switch (action) {
    case RowUp:
      return move(state, -1);
    case RowDown:
      return move(state, 1);
    case PageUp:
      return move(state, -page);
    case PageDown:
      return move(state, page);
    case FirstRow:
      return move(state, -all);
    case LastRow:
      return move(state, all);
    default:
      return;
  }
}

void do_switch(TopState& state, TopAction action) {
  using enum TopAction;
  switch (action) {
    case Pause:
      state.paused = !state.paused;
      return;
    case Live:
      state.live = !state.live;
      return start_at_top(state);
    case Help:
      return open_help(state);
    case Detail:
      state.wants_detail = !state.cover;
      return;
    case Filter:
      state.filter.edited = state.filter.text;
      return;
    case Redraw:
      state.wants_redraw = true;
      return;
    case Back:
      return go_back(state);
    default:
      return do_movement(state, action);
  }
}

void do_action(TopState& state, TopAction action, const Key& key) {
  const std::size_t count = state.panes.size();
  using enum TopAction;
  switch (action) {
    case NextPane:
      return choose_pane(state, (state.pane + 1) % count);
    case PreviousPane:
      return choose_pane(state, (state.pane + count - 1) % count);
    case ChoosePane:
      return choose_pane(state, static_cast<std::size_t>(key.character - '1'));
    case NextColumn:
      return sort_next(state, 1);
    case PreviousColumn:
      return sort_next(state, -1);
    case NextLook:
      return next_look(state);
    case Heap:
      return choose_heap(state);
    default:
      return do_switch(state, action);
  }
}

void use_filter(TopState& state) {
  RowFilter filter{.text = *state.filter.edited};
  if (!filter.text.empty()) {
    auto pattern = NamePattern::parse(filter.text);
    if (!pattern.ok()) {
      state.message = pattern.error().message;
      state.filter.edited.reset();
      return;
    }
    filter.pattern = pattern.take();
  }
  state.filter = std::move(filter);
  start_at_top(state);
}

// One character of UTF-8 back.
void erase_last(std::string& text) {
  const auto is_continuation = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
  };
  while (!text.empty() && is_continuation(text.back())) {
    text.pop_back();
  }
  if (!text.empty()) {
    text.pop_back();
  }
}

void edit_filter(TopState& state, const Key& key) {
  constexpr std::size_t kMaxBytes = 200;
  std::string& text = *state.filter.edited;
  if (key.kind == KeyKind::Enter) {
    return use_filter(state);
  }
  if (key.kind == KeyKind::Escape) {
    state.filter.edited.reset();
  } else if (key.kind == KeyKind::Backspace) {
    erase_last(text);
  } else if (key.kind == KeyKind::Character && text.size() < kMaxBytes) {
    text += key.character;
  }
}

void click(TopState& state, const Key& key) {
  const auto found = std::ranges::find_if(
      state.areas, [&key](const ClickArea& area) { return area.contains(key.line, key.column); });
  if (found == state.areas.end()) {
    return;
  }
  const PaneView view = view_of(state, state.pane);
  switch (found->target) {
    case ClickArea::Target::Pane:
      return choose_pane(state, found->number);
    case ClickArea::Target::Row:
      state.current().selected = found->number;
      return;
    case ClickArea::Target::Column:
      static_cast<void>(sort_by(state, std::string(columns_of(view)[found->number].name)));
      return start_at_top(state);
  }
}

}  // namespace

bool act(TopState& state, const Key& key) {
  state.message.clear();
  if (state.filter.edited) {
    edit_filter(state, key);
    return true;
  }
  if (key.kind == KeyKind::Click) {
    click(state, key);
    return true;
  }
  const auto action = action_of(key);
  if (!action) {
    return true;
  }
  if (*action == TopAction::Quit && !state.cover) {
    return false;
  }
  if (*action == TopAction::Quit) {
    state.cover.reset();
    return true;
  }
  do_action(state, *action, key);
  return true;
}

}  // namespace memtrace
