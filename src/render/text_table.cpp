#include "render/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "base/visible.h"
#include "render/cell_names.h"
#include "render/cell_text.h"
#include "render/ink.h"
#include "render/moments.h"
#include "render/seen_stacks.h"
#include "render/text_line.h"
#include "render/text_shapes.h"
#include "report/row_histograms.h"
#include "report/shares.h"

namespace memtrace {
namespace {

constexpr std::size_t kGap = 2;  // between columns
constexpr std::size_t kStackIndent = 4;

struct Place {
  std::size_t column = 0;  // of the table
  std::size_t width = 0;
  bool is_left = false;
  bool is_share = false;  // of the column's figure
};

// Where stacks are printed.
struct RowPlace {
  std::size_t row = 0;
  std::size_t width = 0;
  SeenStacks& seen;
};

using Lines = std::vector<std::vector<std::string>>;  // rows of cells, one for each Place

bool has_stacks(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(), [](const Column& column) {
    return column.unit == Unit::Stack;
  });
}

std::vector<Place> places_of(const Report& report, const Table& table) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Unit unit = table.columns[i].unit;
    if (unit == Unit::Stack) {
      continue;
    }
    const bool is_left = i < table.key_count || unit == Unit::Text;
    places.push_back({i, width_of(header_of(report, table.columns[i])), is_left});
    if (share_column(table) == i) {
      places.push_back({.column = i, .width = width_of(kShareName), .is_share = true});
    }
  }
  return places;
}

std::string print_share(const Table& table, const std::vector<Cell>& row) {
  const auto share = share_of(table, row);
  return share ? fmt::format("{:.1f}%", 100 * *share) : "-";
}

std::string header_at(const Report& report, const Table& table, const Place& place) {
  return place.is_share ? kShareName : header_of(report, table.columns[place.column]);
}

Lines cells_of(const Report& report, const Table& table, std::vector<Place>& places) {
  Lines lines;
  lines.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    const bool is_rest = table.last_is_rest && lines.size() == table.rows.size();
    for (Place& place : places) {
      const bool is_first_key = place.column == 0 && table.key_count > 0;
      const Unit unit = table.columns[place.column].unit;
      line.push_back(is_rest && is_first_key ? "other"
                     : place.is_share        ? print_share(table, row)
                                             : print_cell(report, unit, row[place.column]));
      place.width = std::max(place.width, width_of(line.back()));
    }
  }
  return lines;
}

std::size_t total_width(const std::vector<Place>& places) {
  return std::accumulate(
      places.begin(), places.end(), std::size_t{0}, [](std::size_t sum, const Place& place) {
        return sum + place.width + kGap;
      });
}

// Where a table without shares fits into the width and with them it does not.
void leave_out_share(std::vector<Place>& places, Lines& lines, std::size_t width) {
  const auto share = std::ranges::find(places, true, &Place::is_share);
  if (share == places.end() || total_width(places) <= width + kGap ||
      total_width(places) - share->width - kGap > width + kGap) {
    return;
  }
  const auto at = share - places.begin();
  for (auto& line : lines) {
    line.erase(line.begin() + at);
  }
  places.erase(share);
}

std::string padded(const std::string& text, const Place& place) {
  return place.is_left ? pad_right(text, place.width) : pad_left(text, place.width);
}

// As perf report paints them.
std::string inked_share(std::string text,
                        const Table& table,
                        const RowPlace& place,
                        std::ostream& out) {
  constexpr double kLarge = 0.05;
  constexpr double kSmall = 0.005;
  const double share = share_of(table, table.rows[place.row]).value_or(0);
  return share < kSmall ? text
                        : inked(std::move(text), share < kLarge ? Ink::Small : Ink::Large, out);
}

std::string without_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void print_header(const Report& report,
                  const Table& table,
                  const std::vector<Place>& places,
                  std::ostream& out) {
  std::string line;
  for (const Place& place : places) {
    line += line.empty() ? "" : std::string(kGap, ' ');
    line += padded(header_at(report, table, place), place);
  }
  if (!places.empty()) {
    out << inked(without_end(line), Ink::Header, out) << '\n';
  }
}

// "(12 frames as in row 2)" and what follows them.
void print_rest(const Frames& frames,
                const SeenStacks::Seen& seen,
                std::size_t width,
                std::ostream& out) {
  const std::string indent(kStackIndent, ' ');
  if (seen.frames == frames.size()) {
    out << indent << "(the stack of row " << seen.row << ")\n";
    return;
  }
  out << indent << '(' << counted(seen.frames, "frame", "frames") << " as in row " << seen.row
      << ")\n";
  for (const Frame& frame : std::span(frames).subspan(seen.frames)) {
    out << indent << print_frame(frame, width - kStackIndent) << '\n';
  }
}

// A stack that an earlier row has is not printed whole.
void print_stack_once(const Report& report,
                      const Cell& cell,
                      const RowPlace& place,
                      std::ostream& out) {
  const Frames* frames = frames_of(report, cell);
  const auto seen =
      frames == nullptr ? SeenStacks::Seen() : place.seen.look_for(*frames, place.row + 1);
  if (seen.frames == 0) {
    print_stack(report, cell, place.width, out);
  } else {
    print_rest(*frames, seen, place.width, out);
  }
}

// With two stacks in a row (allocated here, freed there) each is headed by its column's name.
void print_stacks(const Report& report,
                  const Table& table,
                  const RowPlace& place,
                  std::ostream& out) {
  const std::vector<Cell>& row = table.rows[place.row];
  const auto stack_count =
      std::count_if(table.columns.begin(), table.columns.end(), [](const Column& column) {
        return column.unit == Unit::Stack;
      });
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].unit != Unit::Stack) {
      continue;
    }
    if (stack_count > 1) {
      out << "  " << table.columns[i].name << ":\n";
    }
    print_stack_once(report, row[i], place, out);
  }
}

void print_indented(const Histogram& histogram, std::size_t width, std::ostream& out) {
  std::ostringstream text;
  print_histogram(histogram, width - kStackIndent, text);
  const std::string lines = text.str();
  for (const std::string_view line : split(lines, '\n')) {
    out << (line.empty() ? "" : std::string(kStackIndent, ' ')) << line
        << (line.empty() ? "" : "\n");
  }
}

// What stands below a row's line or lines.
void print_below(const Report& report,
                 const Table& table,
                 const RowPlace& place,
                 std::ostream& out) {
  const bool is_rest = table.last_is_rest && place.row + 1 == table.rows.size();
  if (has_stacks(table) && is_rest) {
    out << std::string(kStackIndent, ' ') << "(all other stacks)\n";
  } else if (has_stacks(table)) {
    print_stacks(report, table, place, out);
  }
  if (const Histogram* histogram = histogram_of(table, table.rows[place.row])) {
    print_indented(*histogram, place.width, out);
  }
}

// A table as it will be printed.
struct Texts {
  const Report& report;
  const Table& table;
  std::vector<Place> places;
  Lines lines;
};

// The keys, "caller: seq_read_iter", and in the lines below them the figures.
// Parts next to each other as far as they fit, each line behind the indent.
void print_filled(const std::vector<std::string>& parts,
                  const std::string& indent,
                  std::size_t width,
                  std::ostream& out) {
  std::string line;
  for (const std::string& part : parts) {
    const std::string gap = line.empty() ? indent : std::string(kGap, ' ');
    if (!line.empty() && width_of(line) + kGap + width_of(part) > width) {
      out << line << '\n';
      line = indent + part;
    } else {
      line += gap + part;
    }
  }
  out << line << (line.empty() ? "" : "\n");
}

void print_block(const Texts& texts, const RowPlace& row, std::ostream& out) {
  std::vector<std::string> keys;
  std::vector<std::string> figures;
  for (std::size_t k = 0; k < texts.places.size(); ++k) {
    const Place& place = texts.places[k];
    (place.column < texts.table.key_count ? keys : figures)
        .push_back(header_at(texts.report, texts.table, place) + ": " + texts.lines[row.row][k]);
  }
  print_filled(keys, "", row.width, out);
  print_filled(figures, std::string(kGap, ' '), row.width, out);
}

// Of tables that are too wide: nothing is cut, and figures stand by their names.
void print_blocks(const Texts& texts, std::size_t width, std::ostream& out) {
  SeenStacks seen;
  for (std::size_t i = 0; i < texts.lines.size(); ++i) {
    const RowPlace row{i, width, seen};
    out << (i == 0 ? "" : "\n");
    print_block(texts, row, out);
    print_below(texts.report, texts.table, row, out);
  }
}

// One row of Lines.
struct RowTexts {
  const std::vector<Place>& places;
  const std::vector<std::string>& cells;
};

void print_row(const RowTexts& texts, const Table& table, const RowPlace& row, std::ostream& out) {
  std::string line;
  for (std::size_t k = 0; k < texts.places.size(); ++k) {
    const Place& place = texts.places[k];
    const std::string text = padded(texts.cells[k], place);
    line += k == 0 ? "" : std::string(kGap, ' ');
    line += place.is_share ? inked_share(text, table, row, out) : text;
  }
  out << without_end(line) << '\n';
}

void print_rows(const Report& report, const Table& table, std::size_t width, std::ostream& out) {
  std::vector<Place> places = places_of(report, table);
  Lines lines = cells_of(report, table, places);
  leave_out_share(places, lines, width);
  if (total_width(places) > width + kGap) {
    print_blocks({report, table, std::move(places), std::move(lines)}, width, out);
    return;
  }
  print_header(report, table, places, out);
  const bool is_apart = has_stacks(table) || !table.histograms.empty();
  SeenStacks seen;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out << (is_apart && i != 0 ? "\n" : "");
    const RowPlace row{i, width, seen};
    print_row({places, lines[i]}, table, row, out);
    print_below(report, table, row, out);
  }
}

constexpr std::size_t kEntryNameWidth = 29;
constexpr std::size_t kEntryWidth = 80;

std::string text_in(const Report& report, const Table& table, std::size_t row, std::size_t column) {
  return visible(print_cell(report, table.columns[column].unit, table.rows[row][column]));
}

void print_wrapped(const std::string& text,
                   std::size_t width,
                   std::size_t indent,
                   std::ostream& out) {
  for (const std::string& line : wrap(text, width, indent)) {
    out << line << '\n';
  }
}

// "name       value", and below it what to know or to do.
void print_entries(const Report& report, const Table& table, std::size_t width, std::ostream& out) {
  width = std::min(width, kEntryWidth);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string line = pad_right(text_in(report, table, row, 0), kEntryNameWidth) + " " +
                             text_in(report, table, row, 1);
    print_wrapped(line, width, kEntryNameWidth + 1, out);
    const auto* const note_cell = std::get_if<std::string>(&table.rows[row][2]);
    if (note_cell != nullptr && !note_cell->empty()) {
      print_wrapped("  -> " + text_in(report, table, row, 2), width, 5, out);
    }
  }
}

// "1. A sentence." and the command on a line of its own, not wrapped: to be copied from there.
void print_paragraphs(const Report& report,
                      const Table& table,
                      std::size_t width,
                      std::ostream& out) {
  constexpr std::size_t kIndent = 4;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string number = pad_right(std::to_string(row + 1) + ".", kIndent);
    for (const std::string& part : wrap(number + text_in(report, table, row, 1), width, kIndent)) {
      out << part << '\n';
    }
    out << std::string(kIndent, ' ') << text_in(report, table, row, 2) << '\n';
  }
}

}  // namespace

std::string header_of(const Report& report, const Column& column) {
  constexpr std::string_view kRate = "_per_second";
  constexpr std::string_view kTime = "_ns";
  if (column.unit == Unit::Moment) {
    return moment_header(report);
  }
  if (column.name.ends_with(kRate)) {
    return column.name.substr(0, column.name.size() - kRate.size()) + "/s";
  }
  if (column.unit == Unit::Nanoseconds && column.name.ends_with(kTime)) {
    return column.name.substr(0, column.name.size() - kTime.size());
  }
  return column.name;
}

std::size_t print_stack(const Report& report,
                        const Cell& cell,
                        std::size_t width,
                        std::ostream& out) {
  const std::string indent(kStackIndent, ' ');
  const Frames* frames = frames_of(report, cell);
  if (frames == nullptr || frames->empty()) {
    out << indent << "(no stack)\n";
    return 1;
  }
  for (const Frame& frame : *frames) {
    out << indent << print_frame(frame, width - kStackIndent) << '\n';
  }
  return frames->size();
}

void print_table(const Report& report, const Table& table, std::size_t width, std::ostream& out) {
  if (!table.title.empty()) {
    print_wrapped(visible(table.title), width, 2, out);
  }
  if (table.rows.empty()) {
    out << "(no rows)\n";
  } else if (table.paragraphs) {
    print_paragraphs(report, table, width, out);
  } else if (table.entries) {
    print_entries(report, table, width, out);
  } else {
    print_rows(report, table, width, out);
  }
  for (const std::string_view line : split(table.note, '\n')) {
    for (const std::string& part : wrap(visible(line), width, 2)) {
      out << part << (part.empty() ? "" : "\n");
    }
  }
}

}  // namespace memtrace
