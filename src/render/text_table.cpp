#include "render/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "base/visible.h"
#include "render/cell_names.h"
#include "render/cell_text.h"
#include "render/moments.h"
#include "render/text_line.h"
#include "render/text_shapes.h"
#include "report/row_histograms.h"
#include "report/seen_stacks.h"
#include "report/shares.h"

namespace memtrace {
namespace {

constexpr std::size_t kGap = 2;        // between columns
constexpr std::size_t kNarrowest = 4;  // what text columns keep
constexpr std::size_t kStackIndent = 4;

struct Place {
  std::size_t column = 0;  // of the table
  std::size_t width = 0;
  bool is_left = false;
  bool is_text = false;
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
    const bool is_text = unit == Unit::Text;
    const bool is_left = i < table.key_count || is_text;
    places.push_back({i, width_of(header_of(report, table.columns[i])), is_left, is_text});
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

// Takes columns away from the widest text until the line fits or all text is as narrow as may be.
void fit(std::vector<Place>& places, std::size_t width) {
  const auto room = [](const Place& place) {
    return place.is_text ? place.width - std::min(place.width, kNarrowest) : 0;
  };
  while (total_width(places) > width + kGap) {
    const auto widest =
        std::max_element(places.begin(), places.end(), [&](const Place& left, const Place& right) {
          return room(left) < room(right);
        });
    if (room(*widest) == 0) {
      return;
    }
    --widest->width;
  }
}

std::string fitted(const std::string& text, const Place& place, bool is_function) {
  if (!place.is_text) {
    return place.is_left ? pad_right(text, place.width) : pad_left(text, place.width);
  }
  return pad_right(is_function ? cut_middle(text, place.width) : cut_end(text, place.width),
                   place.width);
}

void print_line(std::string line, std::ostream& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

void print_header(const Report& report,
                  const Table& table,
                  const std::vector<Place>& places,
                  std::ostream& out) {
  std::string line;
  for (const Place& place : places) {
    line += line.empty() ? "" : std::string(kGap, ' ');
    line += fitted(header_at(report, table, place), place, false);
  }
  if (!places.empty()) {
    print_line(line, out);
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

void print_rows(const Report& report, const Table& table, std::size_t width, std::ostream& out) {
  std::vector<Place> places = places_of(report, table);
  const Lines lines = cells_of(report, table, places);
  fit(places, width);
  print_header(report, table, places, out);
  const bool with_stacks = has_stacks(table);
  const bool is_block = with_stacks || !table.histograms.empty();
  SeenStacks seen;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& row = table.rows[i];
    out << (is_block && i != 0 ? "\n" : "");
    std::string line;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const bool is_function = std::holds_alternative<LocationId>(row[places[k].column]);
      line += k == 0 ? "" : std::string(kGap, ' ');
      line += fitted(lines[i][k], places[k], is_function);
    }
    print_line(line, out);
    const bool is_rest = table.last_is_rest && i + 1 == lines.size();
    if (with_stacks && is_rest) {
      out << std::string(kStackIndent, ' ') << "(all other stacks)\n";
    } else if (with_stacks) {
      print_stacks(report, table, {i, width, seen}, out);
    }
    if (const Histogram* histogram = histogram_of(table, row)) {
      print_indented(*histogram, width, out);
    }
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
    out << cut_end(visible(table.title), width) << '\n';
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
