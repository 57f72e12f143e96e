// OpenMetrics text, which Prometheus and the textfile collector of its node exporter read. A report
// is of one span of time, so all metrics are gauges: of the totals, and of the rows of tables whose
// keys have few values. Stacks, processes and files would make new series without end.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/visible.h"
#include "render/data/data_formats.h"

namespace memtrace {
namespace {

// Prometheus counts in base units.
struct MetricUnit {
  std::string_view name;  // the last word of the metric's name; "" for plain numbers
  double scale = 1;
};

MetricUnit metric_unit(Unit unit) {
  switch (unit) {
    case Unit::Bytes:
      return {"bytes"};
    case Unit::Nanoseconds:
      return {"seconds", 1e-9};
    case Unit::Percent:
      return {"ratio", 0.01};
    default:
      return {""};
  }
}

// Letters, digits and underscores.
std::string metric_word(std::string_view text) {
  std::string word(text);
  for (char& character : word) {
    const bool is_plain = (character >= 'a' && character <= 'z') ||
                          (character >= 'A' && character <= 'Z') ||
                          (character >= '0' && character <= '9');
    character = is_plain ? character : '_';
  }
  return word;
}

// Of a column's name. _count ends the names of histograms alone, and units are whole words.
std::string part_name(std::string_view part) {
  if (part == "count") {
    return "_events";
  }
  return part == "s" ? "_second" : "_" + metric_word(part);
}

std::string_view rate_name(Unit unit) {
  if (unit == Unit::PerSecond) {
    return "_rate";
  }
  return unit == Unit::BytesPerSecond ? "_bytes_rate" : "";
}

// "kmalloc", "", "bytes_alloc" in bytes is "memtrace_kmalloc_alloc_bytes"; "kmalloc", "comm",
// "count" is "memtrace_kmalloc_by_comm_events"; "allocs_per_s" of heap is
// "memtrace_heap_allocs_per_second".
std::string metric_name(std::string_view view, std::string_view by, const Column& column) {
  const std::string unit(metric_unit(column.unit).name);
  std::string name = "memtrace_" + metric_word(view);
  if (!by.empty()) {
    name += "_by_" + metric_word(by);
  }
  for (const std::string_view part : split(column.name, '_')) {
    const bool is_unit = part == "bytes" || part == "ns" || part == "percent";
    if (!is_unit || unit.empty()) {
      name += part_name(part);
    }
  }
  name += rate_name(column.unit);
  return unit.empty() ? name : name + "_" + unit;
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*number);
  }
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

// Counts are whole, as far as a double is exact.
std::string number_text(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const bool is_whole = value == std::floor(value) && std::abs(value) <= kExact;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.15g}", value);
}

std::string escaped_label(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    escaped += character == '\\' || character == '"' ? "\\" : "";
    escaped += character;
  }
  return escaped;
}

std::string escaped_help(const std::string& text) {
  std::string escaped;
  for (const char character : visible(text)) {
    escaped += character == '\\' ? "\\\\" : std::string(1, character);
  }
  return escaped;
}

// Keys whose values are as many as there are processes, files, addresses or moments.
bool has_few_values(const Column& key) {
  constexpr auto kMany = std::to_array<std::string_view>({"pid",
                                                          "tid",
                                                          "ppid",
                                                          "file",
                                                          "path",
                                                          "inode",
                                                          "address",
                                                          "caller",
                                                          "call_site",
                                                          "function",
                                                          "container"});
  return key.unit != Unit::Stack && key.unit != Unit::Address && key.unit != Unit::Moment &&
         std::ranges::find(kMany, key.name) == kMany.end();
}

// A metric and its values by their labels. Rows that a program made alike by its name add up: two
// values of one series would be an error.
struct MetricFamily {
  std::string help;
  std::string_view unit;
  std::map<std::string, double> values;
};

class Metrics {
 public:
  void add(const std::string& name,
           const std::string& help,
           Unit unit,
           const std::string& labels,
           double value) {
    MetricFamily& family = families_[name];
    if (family.help.empty()) {
      family = {.help = help, .unit = metric_unit(unit).name};
    }
    family.values[labels] += value * metric_unit(unit).scale;
  }

  void write(std::ostream& out) const {
    for (const auto& [name, family] : families_) {
      out << "# TYPE " << name << " gauge\n";
      if (!family.unit.empty()) {
        out << "# UNIT " << name << ' ' << family.unit << '\n';
      }
      out << "# HELP " << name << ' ' << escaped_help(family.help) << '\n';
      for (const auto& [labels, value] : family.values) {
        out << name << labels << ' ' << number_text(value) << '\n';
      }
    }
    out << "# EOF\n";
  }

 private:
  std::map<std::string, MetricFamily> families_;
};

// {comm="bash",node="0"}; "" if a key has no text for its value, such as a place in code.
std::string labels_of(const Table& table, const std::vector<Cell>& cells) {
  std::string labels;
  for (std::size_t i = 0; i < table.key_count; ++i) {
    std::string value;
    if (const auto* text = std::get_if<std::string>(&cells[i])) {
      value = visible(*text);
    } else if (const auto* number = std::get_if<std::uint64_t>(&cells[i])) {
      value = std::to_string(*number);
    } else if (!std::holds_alternative<std::monostate>(cells[i])) {
      return "";
    }
    labels += (labels.empty() ? "{" : ",") + metric_word(table.columns[i].name) + "=\"" +
              escaped_label(value) + "\"";
  }
  return labels + "}";
}

bool is_bounded(const Table& table) {
  return table.key_count > 0 && !table.entries && !table.paragraphs &&
         std::all_of(table.columns.begin(),
                     table.columns.begin() + static_cast<std::ptrdiff_t>(table.key_count),
                     has_few_values);
}

void add_row(const Report& report,
             const Table& table,
             const std::vector<Cell>& cells,
             Metrics& metrics) {
  const std::string labels = labels_of(table, cells);
  std::string by;
  for (std::size_t i = 0; i < table.key_count; ++i) {
    by += (i == 0 ? "" : "_") + table.columns[i].name;
  }
  for (std::size_t i = table.key_count; !labels.empty() && i < cells.size(); ++i) {
    const Column& column = table.columns[i];
    const auto value = number_of(cells[i]);
    if (value && column.unit != Unit::Moment && column.unit != Unit::Address) {
      metrics.add(metric_name(report.view, by, column),
                  report.view + " by " + by + ": " + column.name,
                  column.unit,
                  labels,
                  *value);
    }
  }
}

void add_report(const Report& report, Metrics& metrics) {
  const auto add = [&](const std::string& name, Unit unit, const std::string& help, double value) {
    metrics.add(metric_name(report.view, "", {name, unit}), help, unit, "", value);
  };
  for (const Total& total : report.totals) {
    add(total.name, total.unit, report.title + ": " + total.name, static_cast<double>(total.value));
  }
  add("lost_events",
      Unit::Count,
      "events that are missing in the view " + report.view,
      static_cast<double>(report.caveats.missing()));
  add("duration",
      Unit::Nanoseconds,
      "the time that the view " + report.view + " is of",
      static_cast<double>(report.end_ns - report.start_ns));
  if (report.clock.wall_start_ns != 0) {
    add("start_time",
        Unit::Nanoseconds,
        "when that time began, since 1970",
        static_cast<double>(report.clock.wall_start_ns));
  }
  for (const Table& table : report.tables) {
    for (std::size_t row = 0; is_bounded(table) && row < table.rows.size(); ++row) {
      add_row(report, table, table.rows[row], metrics);
    }
  }
  for (const Report& nested : report.reports) {
    add_report(nested, metrics);
  }
}

class OpenMetricsRenderer final : public Renderer {
 public:
  void render(const Report& report, std::ostream& out) const override {
    Metrics metrics;
    add_report(report, metrics);
    metrics.write(out);
  }
};

}  // namespace

std::unique_ptr<Renderer> make_openmetrics_renderer(const RenderOptions&) {
  return std::make_unique<OpenMetricsRenderer>();
}

}  // namespace memtrace
