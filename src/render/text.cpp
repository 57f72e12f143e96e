// The text format: for people, at a terminal, in a hurry. Units are printed, and what the report
// cannot know stands at its end, always.
#include <algorithm>
#include <sstream>
#include <string>

#include "base/visible.h"
#include "render/caveats.h"
#include "render/cell_text.h"
#include "render/formats.h"
#include "render/ink.h"
#include "render/moments.h"
#include "render/text_line.h"
#include "render/text_shapes.h"
#include "render/text_table.h"
#include "render/text_tree.h"

namespace memtrace {
namespace {

constexpr std::size_t kNarrowestReport = 40;

void print_wrapped(const std::string& text, Ink ink, std::size_t width, std::ostream& out) {
  for (const std::string& line : wrap(visible(text), width, 2)) {
    out << inked(line, ink, out) << '\n';
  }
}

std::string title_of(const Report& report) {
  std::string title = report.title.empty() ? report.view : report.title;
  const std::string span = span_text(report);
  return span.empty() ? title : title + " (" + span + ")";
}

// A name and its figure stay in one line.
void print_totals(const Report& report, std::size_t width, std::ostream& out) {
  std::string line = "Total:";
  for (const Total& total : report.totals) {
    const bool is_last = &total == &report.totals.back();
    const std::string item =
        visible(" " + total.name + " " + print_figure(total.unit, total.value)) +
        (is_last ? "" : ",");
    if (width_of(line) + width_of(item) > width && line.ends_with(',')) {
      out << line << '\n';
      line = " ";
    }
    line += item;
  }
  out << line << '\n';
}

void print_caveats(const std::vector<std::string>& lines, std::size_t width, std::ostream& out) {
  out << (lines.empty() ? "" : "\n");
  for (const std::string& line : lines) {
    print_wrapped(line, line.ends_with(": none.") ? Ink::Plain : Ink::Caveat, width, out);
  }
}

void print_shapes(const Report& report, std::size_t width, std::ostream& out) {
  if (!report.totals.empty()) {
    print_totals(report, width, out);
  }
  for (const CallTree& tree : report.trees) {
    out << '\n';
    print_tree(report, tree, width, out);
  }
  for (const Table& table : report.tables) {
    out << '\n';
    print_table(report, table, width, out);
  }
  for (const Histogram& histogram : report.histograms) {
    out << '\n';
    print_histogram(histogram, width, out);
  }
  for (const Series& series : report.series) {
    out << '\n';
    print_series(series, report.start_ns, out);
  }
}

// The views of an overview saw the same recording: what all of them would say stands once, at the
// end of the whole.
void print_nested(const Report& report, std::size_t width, std::ostream& out) {
  const auto shared = caveat_lines(report.caveats);
  for (const Report& nested : report.reports) {
    out << '\n';
    const std::string& title = nested.title.empty() ? nested.view : nested.title;
    print_wrapped("== " + nested.view + ": " + title, Ink::Title, width, out);
    print_shapes(nested, width, out);
    print_nested(nested, width, out);
    auto own = caveat_lines(nested.caveats);
    std::erase_if(own, [&shared](const std::string& line) {
      return std::find(shared.begin(), shared.end(), line) != shared.end();
    });
    print_caveats(own, width, out);
  }
}

class TextRenderer final : public Renderer {
 public:
  explicit TextRenderer(const RenderOptions& options)
      : width_(std::max(options.columns, kNarrowestReport)), colours_(options.colours) {}

  void render(const Report& report, std::ostream& out) const override {
    std::ostringstream lines;
    if (colours_) {
      take_ink(lines);
    }
    print_wrapped(title_of(report), Ink::Title, width_, lines);
    print_shapes(report, width_, lines);
    print_nested(report, width_, lines);
    if (report.is_of_events) {
      print_caveats(caveat_lines(report.caveats), width_, lines);
    }
    // Whatever was forgotten above: names of columns come from files, too.
    out << (colours_ ? painted(lines.view()) : visible_lines(lines.view()));
  }

 private:
  std::size_t width_ = 0;
  bool colours_ = false;
};

}  // namespace

std::unique_ptr<Renderer> make_text_renderer(const RenderOptions& options) {
  return std::make_unique<TextRenderer>(options);
}

}  // namespace memtrace
