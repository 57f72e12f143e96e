// The commands of memtrace: one file each, listed in commands.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"

namespace memtrace {

// What ends the program: 0 done; a traced command's own status.
using ExitStatus = int;

struct Command {
  std::string_view name;
  std::string_view usage;  // behind "memtrace NAME"
  std::string_view summary;
  std::vector<Option> (*options)() = nullptr;
  Result<ExitStatus> (*run)(const std::vector<std::string>& arguments) = nullptr;
};

extern const Command command_record;
extern const Command command_watch;
extern const Command command_report;
extern const Command command_convert;
extern const Command command_diff;
extern const Command command_top;
extern const Command command_doctor;
extern const Command command_cleanup;
extern const Command command_list;
extern const Command command_help;

std::span<const Command* const> all_commands();

// The exit status for a traced command, as a shell gives it: its own status, or 128 and the signal
// that killed it, and a line on stderr when it is not 0. 0 without a command.
ExitStatus exit_status_of(std::optional<int> wait_status);

// Runs what the words behind "memtrace" ask for: a command, or a view on the live kernel.
Result<ExitStatus> run_command_line(const std::vector<std::string>& arguments);

// A view on the live kernel: `memtrace kmalloc -a 1 5`.
Result<ExitStatus> run_live_view(std::string_view name, const std::vector<std::string>& arguments);
std::vector<Option> live_view_options(std::string_view name);

// "Usage: ..." and the options, for --help.
std::string usage_text(std::string_view name,
                       std::string_view usage,
                       std::string_view summary,
                       std::span<const Option> options);

}  // namespace memtrace
