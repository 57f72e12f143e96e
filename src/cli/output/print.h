// Reports to standard output in the format that the user chose.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "cli/output/push.h"
#include "os/stop_signals.h"
#include "render/line_renderer.h"
#include "report/report.h"

namespace memtrace {

enum class Colours { OnTerminal, Always, Never };

struct PrintOptions {
  std::string format = "text";
  std::string output{};     // a file; "": standard output
  std::size_t columns = 0;  // of text; 0: as wide as COLUMNS or the terminal says
  Colours colours = Colours::OnTerminal;
  bool may_page = false;                // long text on a terminal goes through a pager
  bool one_line = false;                // JSON: one object a line
  bool one_screen = false;              // text on a terminal is cut to its height
  std::string heading{};                // of text, before the report's title
  bool host_columns = false;            // CSV: host, boot and times in each line
  std::optional<PushTarget> push{};     // where the report is sent instead
  StopSignals* stop_signals = nullptr;  // end the wait for a reader that stands still
};

// The width of text: what the user asked for here (0: nothing) or for all programs by COLUMNS
// (environ(7)); else that of the terminal.
std::size_t output_columns(std::size_t asked);

// Whether standard output is one.
bool is_terminal();

// --format, --width, --wide and --color. Error: Usage, none of these makes sense.
Result<PrintOptions> read_print_options(const ParsedOptions& parsed);

// Error: Usage, an unknown format.
Result<> check_format(const std::string& format);

// Error: Usage, a format that does not suit the view, "" for all of them, or where it goes to.
Result<> check_printing(const PrintOptions& options, std::string_view view);

// Error: standard output, or the file, cannot be written to.
Result<> print_report(const Report& report, const PrintOptions& options);

// Lines as they happen, each written at once, and at the end what must be known about their truth.
class LinePrinter {
 public:
  // Error: Usage, a format that has no lines; `option` asked for them.
  static Result<LinePrinter> create(std::string_view option, const PrintOptions& options);

  // Error: standard output cannot be written to.
  Result<> print(const Report& lines);

  // JSON: the report, as one line more. For the others its caveats go to standard error: they are
  // no lines.
  Result<> end(const Report& report);

 private:
  LinePrinter(PrintOptions options, std::unique_ptr<LineRenderer> renderer)
      : options_(std::move(options)), renderer_(std::move(renderer)) {}

  PrintOptions options_;
  std::unique_ptr<LineRenderer> renderer_;
};

// To standard error: for formats, and lines, that have no place for them.
void print_caveats(const Caveats& caveats);

// Empties the screen if standard output is a terminal.
Result<> clear_screen();

// Writes text as it is.
Result<> print_text(const std::string& text, StopSignals* stop_signals = nullptr);

}  // namespace memtrace
