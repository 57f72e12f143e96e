#include "cli/top/compose.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "base/visible.h"
#include "render/caveats.h"
#include "render/cell_text.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

constexpr std::size_t kLinesOfTwoPanes = 40;
constexpr std::size_t kLinesAbovePanes = 2;
constexpr std::size_t kLinesOfPaneHead = 2;

// One screen, while it is put together.
struct Composition {
  TopState& state;
  const TopSnapshot& snapshot;
  Namer& namer;
  std::size_t columns;
  ScreenFrame frame{};

  void add(const std::string& text, TextStyle style = TextStyle::Plain) {
    frame.lines.push_back({{pad_right(cut_end(text, columns), columns), style}});
  }
};

std::string lost_text(const TopSnapshot& snapshot) {
  if (snapshot.reports.empty()) {
    return "no interval has ended yet";
  }
  return caveat_lines(snapshot.reports.front().caveats).front();
}

void add_heading(Composition& composition) {
  const TopState& state = composition.state;
  std::string text = "memtrace top";
  for (const std::string& part :
       {composition.snapshot.clock, state.target, "every " + state.interval}) {
    text += part.empty() ? "" : "  " + visible(part);
  }
  text += "  " + lost_text(composition.snapshot);
  if (state.paused) {
    constexpr std::string_view kPaused = "  PAUSED";
    const std::size_t room = composition.columns - std::min(composition.columns, kPaused.size());
    text = pad_right(cut_end(text, room), room) + std::string(kPaused);
  }
  composition.add(text, TextStyle::Bold);
}

void add_tabs(Composition& composition) {
  FrameLine line;
  std::size_t column = 0;
  for (std::size_t i = 0; i < composition.state.panes.size(); ++i) {
    const std::string text = fmt::format(" {} {} ", i + 1, all_panes()[i].name);
    if (column + text.size() > composition.columns) {
      break;
    }
    const bool is_chosen = i == composition.state.pane;
    line.push_back({text, is_chosen ? TextStyle::Reverse : TextStyle::Plain});
    composition.frame.areas.push_back({.line = composition.frame.lines.size(),
                                       .first_column = column,
                                       .limit_column = column + text.size(),
                                       .target = ClickArea::Target::Pane,
                                       .number = i});
    column += text.size();
  }
  line.push_back({std::string(composition.columns - column, ' ')});
  composition.frame.lines.push_back(std::move(line));
}

std::string totals_of(const Report& report) {
  std::string text;
  for (const Total& total : report.totals) {
    text += fmt::format(
        "{} {} {}", text.empty() ? "" : ",", total.name, print_figure(total.unit, total.value));
  }
  return text;
}

const Report* report_of(const TopSnapshot& snapshot, const PaneLook& look) {
  return look.of_processes || look.query >= snapshot.reports.size() ? nullptr
                                                                    : &snapshot.reports[look.query];
}

void add_title(Composition& composition, std::size_t pane, const PaneRows& rows) {
  const TopState& state = composition.state;
  const PaneLook& look = state.look_of(pane);
  std::string text(look.title);
  if (!look.live.empty()) {
    text += state.live ? ", live" : ", rates";
  }
  text += ": " + counted(rows.row_count, "row", "rows");
  if (state.filter.pattern) {
    text += " with " + visible(state.filter.text);
  }
  if (const Report* report = report_of(composition.snapshot, look)) {
    text += "; total" + totals_of(*report);
  }
  composition.add(text);
}

void add_column_areas(Composition& composition,
                      const std::vector<PaneColumnText>& columns,
                      const PaneView& view) {
  const auto shown = columns_of(view);
  for (const PaneColumnText& column : columns) {
    const auto found = std::ranges::find(shown, column.name, &PaneColumn::name);
    composition.frame.areas.push_back({.line = composition.frame.lines.size(),
                                       .first_column = column.begin,
                                       .limit_column = column.begin + column.width,
                                       .target = ClickArea::Target::Column,
                                       .number = static_cast<std::size_t>(found - shown.begin())});
  }
}

void add_row(Composition& composition,
             const std::string& text,
             std::size_t number,
             bool is_current) {
  if (is_current) {
    composition.frame.areas.push_back({.line = composition.frame.lines.size(),
                                       .limit_column = composition.columns,
                                       .target = ClickArea::Target::Row,
                                       .number = number});
  }
  const bool is_selected = is_current && number == composition.state.current().selected;
  composition.add(text, is_selected ? TextStyle::Reverse : TextStyle::Plain);
}

// Why a pane may be empty, and what its figures leave out.
void add_notes(Composition& composition, std::size_t pane, std::size_t limit_line) {
  const Report* report = report_of(composition.snapshot, composition.state.look_of(pane));
  if (report == nullptr) {
    return;
  }
  std::vector<std::string> lines;
  for (const std::string& note : report->caveats.notes) {
    std::ranges::move(wrap("Note: " + visible(note), composition.columns, 2),
                      std::back_inserter(lines));
  }
  const std::size_t taken = composition.frame.lines.size();
  lines.resize(std::min(lines.size(), limit_line - std::min(limit_line, taken)));
  for (const std::string& line : lines) {
    composition.add(line);
  }
}

// The chosen row is on the page, and there is one as long as there are rows.
void keep_on_page(TopState& state, std::size_t row_count, std::size_t page) {
  PaneState& own = state.current();
  state.row_count = row_count;
  state.page = std::max<std::size_t>(page, 1);
  own.selected = std::min(own.selected, row_count == 0 ? 0 : row_count - 1);
  own.first_row = std::min(own.first_row, own.selected);
  if (own.selected >= own.first_row + state.page) {
    own.first_row = own.selected - state.page + 1;
  }
}

PaneRows rows_of(Composition& composition, std::size_t pane, std::size_t page) {
  TopState& state = composition.state;
  PaneView view = view_of(state, pane);
  const std::size_t first_row = view.first_row;
  PaneRows rows = take_rows(composition.snapshot, view, page, composition.namer);
  if (pane != state.pane) {
    return rows;
  }
  keep_on_page(state, rows.row_count, page);
  view.first_row = state.current().first_row;
  return view.first_row == first_row
             ? std::move(rows)
             : take_rows(composition.snapshot, view, page, composition.namer);
}

void add_pane(Composition& composition, std::size_t pane, std::size_t line_count) {
  const std::size_t limit_line = composition.frame.lines.size() + line_count;
  const std::size_t page = line_count - std::min(line_count, kLinesOfPaneHead);
  const bool is_current = pane == composition.state.pane;
  const PaneRows rows = rows_of(composition, pane, page);
  const PaneView view = view_of(composition.state, pane);
  const auto columns = fit_columns(rows, view, composition.snapshot.seconds, composition.columns);
  add_title(composition, pane, rows);
  if (is_current) {
    add_column_areas(composition, columns, view);
  }
  composition.add(header_line(columns, composition.columns), TextStyle::Reverse);
  const std::size_t shown = rows.report.tables.front().rows.size();
  for (std::size_t i = 0; i < shown; ++i) {
    add_row(composition, row_line(columns, i, composition.columns), view.first_row + i, is_current);
  }
  if (shown == 0 && composition.frame.lines.size() < limit_line) {
    composition.add("(no rows)");
  }
  if (shown < page) {
    add_notes(composition, pane, limit_line);
  }
}

void add_cover(Composition& composition, std::size_t limit_line) {
  ScreenCover& cover = *composition.state.cover;
  const std::size_t room = limit_line - std::min(limit_line, composition.frame.lines.size() + 1);
  composition.state.page = std::max<std::size_t>(room, 1);
  const std::size_t last_first = cover.lines.size() - std::min(cover.lines.size(), room);
  cover.first = std::min(cover.first, last_first);
  composition.add(cover.title, TextStyle::Reverse);
  for (std::size_t i = cover.first; i < cover.lines.size(); ++i) {
    if (composition.frame.lines.size() < limit_line) {
      composition.add(cover.lines[i]);
    }
  }
}

void open_detail(Composition& composition) {
  TopState& state = composition.state;
  state.wants_detail = false;
  PaneView view = view_of(state, state.pane);
  view.first_row = state.current().selected;
  const PaneRows rows = take_rows(composition.snapshot, view, 1, composition.namer);
  auto lines = row_detail(rows, 0, composition.columns);
  if (!lines.empty()) {
    state.cover = ScreenCover{.title = std::string(view.look->title) + ": one row of the interval",
                              .lines = std::move(lines)};
  }
}

std::string bottom_text(const TopState& state) {
  if (state.filter.edited) {
    return "filter: " + visible(*state.filter.edited) + "_   (Enter: use it, Escape: leave it)";
  }
  if (!state.message.empty()) {
    return visible(state.message);
  }
  if (state.cover) {
    return "Escape back  Up Down scroll";
  }
  return "Tab pane  b by  l live  s sort  / filter  Space pause  Enter row  ? help  q quit";
}

void add_panes(Composition& composition, std::size_t limit_line) {
  const std::size_t room = limit_line - std::min(limit_line, kLinesAbovePanes);
  if (limit_line + 1 < kLinesOfTwoPanes) {
    add_pane(composition, composition.state.pane, room);
    return;
  }
  const std::size_t upper = room / 2;
  add_pane(composition, composition.state.pane, upper - 1);
  while (composition.frame.lines.size() < kLinesAbovePanes + upper) {
    composition.add("");
  }
  const std::size_t next = (composition.state.pane + 1) % composition.state.panes.size();
  add_pane(composition, next, room - upper);
}

}  // namespace

ScreenFrame compose(TopState& state, const TopSnapshot& snapshot, ScreenSize size, Namer& namer) {
  Composition composition{state, snapshot, namer, size.columns};
  const std::size_t limit_line = size.lines - std::min<std::size_t>(size.lines, 1);
  if (state.wants_detail) {
    open_detail(composition);
  }
  add_heading(composition);
  add_tabs(composition);
  if (state.cover) {
    add_cover(composition, limit_line);
  } else {
    add_panes(composition, limit_line);
  }
  while (composition.frame.lines.size() < limit_line) {
    composition.add("");
  }
  composition.frame.lines.resize(limit_line);
  composition.add(bottom_text(state), TextStyle::Bold);
  state.areas = composition.frame.areas;
  return std::move(composition.frame);
}

ScreenFrame compose_batch(TopState& state,
                          const TopSnapshot& snapshot,
                          ScreenSize most,
                          Namer& namer) {
  Composition composition{state, snapshot, namer, most.columns};
  add_heading(composition);
  add_pane(composition, state.pane, most.lines);
  return std::move(composition.frame);
}

}  // namespace memtrace
