// Warnings and hints for the person at the terminal: to stderr, never mixed into a report.
#pragma once

#include <string_view>

namespace memtrace {

// "memtrace: warning: ..." on stderr.
void warn(std::string_view message);

// "memtrace: ..." on stderr: what memtrace did on its own, worth one line.
void inform(std::string_view message);

// For a terminal: a line that the next status or the next message replaces. "" removes it.
void show_status(std::string_view line);

}  // namespace memtrace
