// Reports to standard output in the format that the user chose.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/stop_signals.h"
#include "report/report.h"

namespace memtrace {

struct PrintOptions {
  std::string format = "text";
  bool one_line = false;                // JSON: one object a line
  StopSignals* stop_signals = nullptr;  // end the wait for a reader that stands still
};

// Error: Usage, an unknown format.
Result<> check_format(const std::string& format);

// Error: standard output cannot be written to.
Result<> print_report(const Report& report, const PrintOptions& options);

// Writes text as it is.
Result<> print_text(const std::string& text, StopSignals* stop_signals = nullptr);

}  // namespace memtrace
