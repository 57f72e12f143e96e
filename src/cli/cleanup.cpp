// memtrace cleanup: removes what a killed memtrace has left in the kernel.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/units.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "tracepoints/probe/stale_probes.h"

namespace memtrace::cleanup_command {
namespace {

constexpr auto kOwnOptions =
    std::to_array<Option>({{"dry-run", 'n', "", "show what would be removed, and remove nothing"}});

std::vector<Option> options() {
  return joined({kOwnOptions, help_option()});
}

std::string line_of(const StaleProbe& probe, bool is_dry_run) {
  return probe.errno_value == 0
             ? fmt::format("{} {}\n", is_dry_run ? "would remove" : "removed", probe.name)
             : fmt::format("kept {}: {}\n", probe.name, std::strerror(probe.errno_value));
}

Result<ExitStatus> clean_up(bool is_dry_run) {
  const auto stale = stale_probes(is_dry_run ? StaleAction::List : StaleAction::Remove);
  if (!stale.ok()) {
    return stale.error();
  }
  std::string text;
  for (const StaleProbe& probe : stale.value()) {
    text += line_of(probe, is_dry_run);
  }
  const auto gone =
      static_cast<std::size_t>(std::ranges::count(stale.value(), 0, &StaleProbe::errno_value));
  const std::size_t kept = stale.value().size() - gone;
  text += fmt::format("{} {} of killed memtrace processes{}\n",
                      is_dry_run ? "would remove" : "removed",
                      counted(gone, "probe", "probes"),
                      kept == 0 ? "" : fmt::format(", {} kept", kept));
  TRY(print_text(text));
  return kept == 0 ? 0 : 1;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const auto known = options();
  const auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("cleanup", command_cleanup.usage, command_cleanup.summary, known)));
    return 0;
  }
  if (!parsed.value().positional().empty()) {
    return Error{"'" + parsed.value().positional().front() + "'",
                 0,
                 "cleanup takes no arguments",
                 ErrorKind::Usage};
  }
  return clean_up(parsed.value().has("dry-run"));
}

}  // namespace
}  // namespace memtrace::cleanup_command

namespace memtrace {

const Command command_cleanup{
    .name = "cleanup",
    .usage = "[OPTION]...",
    .summary = "Removes the probe definitions that killed memtrace processes have left behind.",
    .options = cleanup_command::options,
    .run = cleanup_command::run,
};

}  // namespace memtrace
