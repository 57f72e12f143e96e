// Folded stacks for flame graph tools, one line a row: "comm;outermost;...;innermost VALUE", where
// VALUE is the table's weight. Kernel frames end in _[k] and inlined ones in _[i], by which
// flamegraph.pl colours them. Nothing else is written: caveats would be taken for stacks.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/visible.h"
#include "render/cell_names.h"
#include "render/cell_text.h"
#include "render/formats.h"

namespace memtrace {
namespace {

struct Fold {
  const Table& table;
  std::size_t weight = 0;
  std::optional<std::size_t> stack;  // without: the text keys are the frames
};

std::optional<std::size_t> column_named(const Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> stack_column(const Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].unit == Unit::Stack) {
      return i;
    }
  }
  return std::nullopt;
}

bool has_text_key(const Table& table) {
  return std::any_of(table.columns.begin(),
                     table.columns.begin() + static_cast<std::ptrdiff_t>(table.key_count),
                     [](const Column& column) { return column.unit == Unit::Text; });
}

// The first table with stacks, else the first with text keys: two tables of one report describe
// the same events, and both together would count them twice.
std::optional<Fold> choose_fold(const Report& report) {
  std::optional<Fold> fallback;
  for (const Table& table : report.tables) {
    const auto weight = column_named(table, table.weight.empty() ? "count" : table.weight);
    const auto stack = stack_column(table);
    if (weight && stack) {
      return Fold{table, *weight, stack};
    }
    if (weight && !fallback && has_text_key(table)) {
      fallback.emplace(Fold{table, *weight, std::nullopt});
    }
  }
  return fallback;
}

std::uint64_t value_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return *number;
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
  }
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(std::llround(*number)) : 0;
}

void add_frame(std::string& line, std::string_view name, std::string_view mark = "") {
  line += line.empty() ? "" : ";";
  std::string shown = visible(name);
  std::replace(shown.begin(), shown.end(), ';', ':');
  line += shown;
  line += mark;
}

void add_frame(std::string& line, const Frame& frame) {
  add_frame(line, frame.function, frame.kernel ? "_[k]" : (frame.inlined ? "_[i]" : ""));
}

void add_key(std::string& line, const Report& report, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    add_frame(line, text->empty() ? "[unknown]" : *text);
  } else if (const Frames* frames = frames_of(report, cell); frames && !frames->empty()) {
    add_frame(line, frames->front());
  } else {
    add_frame(line, "[unknown]");
  }
}

std::string frames_line(const Report& report, const Fold& fold, const std::vector<Cell>& row) {
  std::string line;
  const std::size_t key_count =
      fold.stack ? std::min(*fold.stack, fold.table.key_count) : fold.table.key_count;
  for (std::size_t i = 0; i < key_count; ++i) {
    // A place in code is part of the stack already.
    const bool is_place = fold.stack && std::holds_alternative<LocationId>(row[i]);
    const Column& column = fold.table.columns[i];
    if (column.unit == Unit::Text && !is_place) {
      add_key(line, report, row[i]);
    } else if (const auto* number = std::get_if<std::uint64_t>(&row[i])) {
      add_frame(line, column.name + " " + print_figure(column.unit, *number));  // "pid 123"
    }
  }
  const Frames* frames = fold.stack ? frames_of(report, row[*fold.stack]) : nullptr;
  if (frames != nullptr) {
    std::for_each(
        frames->rbegin(), frames->rend(), [&](const Frame& frame) { add_frame(line, frame); });
  }
  if (fold.stack && (frames == nullptr || frames->empty())) {
    add_frame(line, "[unknown]");
  }
  return line;
}

void write(const Report& report, const Fold& fold, const std::string& prefix, std::ostream& out) {
  const std::size_t row_count = fold.table.rows.size() - (fold.table.last_is_rest ? 1 : 0);
  for (std::size_t i = 0; i < row_count; ++i) {
    const auto& row = fold.table.rows[i];
    const std::uint64_t value = value_of(row[fold.weight]);
    if (value != 0) {
      out << prefix << frames_line(report, fold, row) << ' ' << value << '\n';
    }
  }
}

void write(const Report& report, const std::string& prefix, std::ostream& out) {
  if (const auto fold = choose_fold(report)) {
    write(report, *fold, prefix, out);
  }
  for (const Report& nested : report.reports) {
    write(nested, nested.view + ";", out);
  }
}

class FoldedRenderer final : public Renderer {
 public:
  // The reports of an overview become towers of their own, each on a frame with its view's name.
  void render(const Report& report, std::ostream& out) const override { write(report, "", out); }
};

}  // namespace

std::unique_ptr<Renderer> make_folded_renderer(const RenderOptions&) {
  return std::make_unique<FoldedRenderer>();
}

}  // namespace memtrace
