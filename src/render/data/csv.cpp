// CSV as in RFC 4180, but with the line ends of Unix: a header line, then one line a row, numbers
// raw, unknown cells empty. Text that a spreadsheet would take for a formula has a ' in front. A
// stack is one field, its functions innermost first and joined by ';'. Further tables, histograms
// and series follow after an empty line, with headers of their own.
#include <fmt/core.h>

#include <string>
#include <type_traits>

#include "base/units.h"
#include "base/visible.h"
#include "render/cell_names.h"
#include "render/data/data_formats.h"
#include "render/data/host_columns.h"
#include "render/moments.h"
#include "report/shares.h"

namespace memtrace {
namespace {

// Nothing that a terminal or, from its first character on, a spreadsheet takes for an order. A lone
// sign is none.
std::string harmless(std::string_view text) {
  const bool is_formula =
      text.size() > 1 && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  return (is_formula ? "'" : "") + visible(text);
}

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char character : text) {
    field += character == '"' ? "\"\"" : std::string(1, character);
  }
  return field + '"';
}

std::string stack_field(const Frames* frames) {
  std::string joined;
  if (frames == nullptr) {
    return joined;
  }
  for (const Frame& frame : *frames) {
    joined += joined.empty() ? "" : ";";
    joined += frame.function;
  }
  return joined;
}

struct Field {
  const Report& report;

  std::string operator()(std::monostate) const { return ""; }

  std::string operator()(std::uint64_t number) const { return std::to_string(number); }

  std::string operator()(std::int64_t number) const { return std::to_string(number); }

  std::string operator()(double number) const { return fmt::format("{:.10g}", number); }

  std::string operator()(StackId id) const { return harmless(stack_field(frames_of(report, id))); }

  std::string operator()(LocationId id) const { return harmless(location_name(report, id)); }

  std::string operator()(const std::string& text) const { return harmless(text); }
};

// Writes blocks of lines with an empty line between them.
class Blocks {
 public:
  explicit Blocks(std::ostream& out) : out_(out) {}

  void begin() {
    out_ << (is_first_ ? "" : "\n");
    is_first_ = false;
  }

  void line(const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out_ << (i == 0 ? "" : ",") << quoted(fields[i]);
    }
    out_ << '\n';
  }

 private:
  std::ostream& out_;
  bool is_first_ = true;
};

// What each line begins with.
struct LineHead {
  std::vector<std::string> names;
  std::vector<std::string> values;
};

LineHead head_of(const Report& report, bool has_host) {
  LineHead head;
  for (const HostColumn& column : has_host ? host_columns(report) : std::vector<HostColumn>()) {
    head.names.push_back(column.name);
    head.values.push_back(harmless(column.value));
  }
  return head;
}

void write_header(const Report& report, const Table& table, const LineHead& head, Blocks& blocks) {
  std::vector<std::string> fields = head.names;
  for (const Column& column : table.columns) {
    if (column.unit == Unit::Moment && !moment_column(report).empty()) {
      fields.push_back(moment_column(report));
    }
    fields.push_back(harmless(column.name));
  }
  if (share_column(table)) {
    fields.emplace_back(kShareName);
  }
  blocks.line(fields);
}

std::vector<std::string> fields_of(const Report& report,
                                   const Table& table,
                                   const LineHead& head,
                                   const std::vector<Cell>& row) {
  std::vector<std::string> fields = head.values;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (table.columns[i].unit == Unit::Moment && !moment_column(report).empty()) {
      fields.push_back(std::visit(Field{report}, moment_cell(report, row[i])));
    }
    fields.push_back(std::visit(Field{report}, row[i]));
  }
  if (share_column(table)) {
    const auto share = share_of(table, row);
    fields.push_back(share ? fmt::format("{:.6f}", *share) : "");
  }
  return fields;
}

void write_rows(const Report& report, const Table& table, const LineHead& head, Blocks& blocks) {
  for (const auto& row : table.rows) {
    blocks.line(fields_of(report, table, head, row));
  }
}

void write_buckets(const RowHistogram& histogram,
                   const std::vector<std::string>& keys,
                   Blocks& blocks) {
  for (const auto& bucket : histogram.histogram.buckets) {
    std::vector<std::string> fields = keys;
    for (const std::uint64_t number : {bucket.low, bucket.high, bucket.count}) {
      fields.push_back(std::to_string(number));
    }
    blocks.line(fields);
  }
}

// The keys of its row before each bucket.
void write_row_histograms(const Report& report, const Table& table, Blocks& blocks) {
  blocks.begin();
  std::vector<std::string> names;
  for (std::size_t key = 0; key < table.key_count; ++key) {
    names.push_back(harmless(table.columns[key].name));
  }
  names.insert(names.end(), {"low", "high", "count"});
  blocks.line(names);
  for (const RowHistogram& each : table.histograms) {
    std::vector<std::string> keys;
    for (const Cell& key : each.keys) {
      keys.push_back(std::visit(Field{report}, key));
    }
    write_buckets(each, keys, blocks);
  }
}

void write(const Report& report, const Table& table, const LineHead& head, Blocks& blocks) {
  blocks.begin();
  write_header(report, table, head, blocks);
  write_rows(report, table, head, blocks);
  if (!table.histograms.empty()) {
    write_row_histograms(report, table, blocks);
  }
}

// A node behind its parent, whose level is one less.
void write(const CallTree& tree, const CallNode& node, std::size_t level, Blocks& blocks) {
  const auto share = [&tree](std::uint64_t part) {
    return fmt::format("{:.6f}", static_cast<double>(part) / static_cast<double>(tree.whole));
  };
  for (const CallNode& child : node.children) {
    blocks.line({std::to_string(level),
                 harmless(child.frame.function),
                 harmless(child.frame.module),
                 std::to_string(child.total),
                 std::to_string(child.own),
                 share(child.total)});
    write(tree, child, level + 1, blocks);
  }
  if (node.other_count > 0) {
    const std::string others = counted(node.other_count, "other", "others");
    blocks.line({std::to_string(level),
                 "(" + others + ")",
                 "",
                 std::to_string(node.other_total),
                 "",
                 share(node.other_total)});
  }
}

void write(const CallTree& tree, Blocks& blocks) {
  blocks.begin();
  blocks.line({"level", "function", "module", harmless(tree.figure.name), "own", kShareName});
  write(tree, tree.root, 1, blocks);
}

void write(const Histogram& histogram, Blocks& blocks) {
  blocks.begin();
  blocks.line({"low", "high", "count"});
  for (const auto& bucket : histogram.buckets) {
    blocks.line(
        {std::to_string(bucket.low), std::to_string(bucket.high), std::to_string(bucket.count)});
  }
}

void write(const Series& series, std::uint64_t start_ns, Blocks& blocks) {
  blocks.begin();
  blocks.line({"at_ns", "value"});
  for (const auto& [time_ns, value] : series.points) {
    blocks.line({std::to_string(Series::at_ns(time_ns, start_ns)), std::to_string(value)});
  }
}

void write(const Report& report, bool has_host, Blocks& blocks) {
  const LineHead head = head_of(report, has_host);
  for (const CallTree& tree : report.trees) {
    write(tree, blocks);
  }
  for (const Table& table : report.tables) {
    write(report, table, head, blocks);
  }
  for (const Histogram& histogram : report.histograms) {
    write(histogram, blocks);
  }
  for (const Series& series : report.series) {
    write(series, report.start_ns, blocks);
  }
  for (const Report& nested : report.reports) {
    write(nested, has_host, blocks);
  }
}

class CsvRenderer final : public Renderer {
 public:
  explicit CsvRenderer(bool has_host) : has_host_(has_host) {}

  void render(const Report& report, std::ostream& out) const override {
    Blocks blocks(out);
    write(report, has_host_, blocks);
  }

 private:
  bool has_host_ = false;
};

class CsvLines final : public LineRenderer {
 public:
  void render(const Report& lines, std::ostream& out) override {
    Blocks blocks(out);
    const std::size_t columns = lines.tables.front().columns.size();
    if (header_columns_ != columns) {  // not all intervals have the same totals
      write_header(lines, lines.tables.front(), {}, blocks);
      header_columns_ = columns;
    }
    write_rows(lines, lines.tables.front(), {}, blocks);
  }

 private:
  std::size_t header_columns_ = 0;
};

}  // namespace

std::unique_ptr<Renderer> make_csv_renderer(const RenderOptions& options) {
  return std::make_unique<CsvRenderer>(options.host_columns);
}

std::unique_ptr<LineRenderer> make_csv_lines(const LineOptions&) {
  return std::make_unique<CsvLines>();
}

}  // namespace memtrace
