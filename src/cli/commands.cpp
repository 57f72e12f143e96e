#include <sys/wait.h>

#include <array>

#include "base/log.h"
#include "base/text.h"
#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/options/foreign_options.h"
#include "cli/output/version.h"
#include "perf/target/target.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr auto kCommands = std::to_array<const Command*>({&command_record,
                                                          &command_watch,
                                                          &command_report,
                                                          &command_diff,
                                                          &command_convert,
                                                          &command_top,
                                                          &command_doctor,
                                                          &command_cleanup,
                                                          &command_list,
                                                          &command_help});

Error unknown_command(const std::string& name) {
  std::vector<std::string> names;
  names.reserve(kCommands.size() + all_views().size());
  for (const Command* command : kCommands) {
    names.emplace_back(command->name);
  }
  for (const NamedView& view : all_views()) {
    names.emplace_back(view.name);
  }
  for (const Alias& alias : all_aliases()) {
    names.emplace_back(alias.name);
  }
  const std::string_view instead = instead_of_command(name);
  if (!instead.empty()) {
    return {"there is no command '" + name + "'", 0, std::string(instead), ErrorKind::Usage};
  }
  if (name.starts_with('-')) {
    return {"unknown option '" + name + "'",
            0,
            "put the command or view before its options: memtrace faults -a",
            ErrorKind::Usage};
  }
  const auto near = nearest(name, names);
  return {"unknown command or view '" + name + "'",
          0,
          near.empty() ? "memtrace help lists them" : "did you mean " + join(near, " or ") + "?",
          ErrorKind::Usage};
}

Result<ExitStatus> run_alias(const Alias& alias, const std::vector<std::string>& rest) {
  const auto arguments = with_alias_letters(alias, rest);
  if (!arguments.ok()) {
    return arguments.error();
  }
  if (const auto traced = traced_alias(alias, arguments.value())) {
    return run_live_view(traced->view, traced->arguments);
  }
  const auto view = live_view_of(alias, live_view_options(alias.view), arguments.value());
  if (view != alias.view) {
    inform(std::string(alias.name) +
           " without a target shows the kernel's memory: " + std::string(view));
  }
  return run_live_view(view,
                       with_live_alias_options(alias, live_view_options(view), arguments.value()));
}

Result<ExitStatus> run_named(const std::string& name, const std::vector<std::string>& rest) {
  for (const Command* command : kCommands) {
    if (command->name == name) {
      return command->run(rest);
    }
  }
  if (const Alias* alias = find_alias(name)) {
    return run_alias(*alias, rest);
  }
  return find_view(name) != nullptr ? run_live_view(name, rest) : unknown_command(name);
}

}  // namespace

std::span<const Command* const> all_commands() {
  return kCommands;
}

ExitStatus exit_status_of(std::optional<int> wait_status) {
  if (!wait_status || *wait_status == 0) {
    return 0;
  }
  inform("the command " + describe_wait_status(*wait_status));
  return WIFSIGNALED(*wait_status) ? 128 + WTERMSIG(*wait_status) : WEXITSTATUS(*wait_status);
}

Result<ExitStatus> run_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    return command_help.run({});
  }
  const std::string& name = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (name == "--version" || name == "-V" || name == "version") {
    return print_version(rest);
  }
  auto outcome = run_named(name, rest);
  return outcome.ok() ? std::move(outcome)
                      : Result<ExitStatus>(with_own_spelling(name, outcome.take_error()));
}

std::string usage_text(std::string_view name,
                       std::string_view usage,
                       std::string_view summary,
                       std::span<const Option> options) {
  std::string text = "Usage: memtrace " + std::string(name) + " " + std::string(usage) + "\n";
  text += std::string(summary) + "\n\nOptions:\n" + help_text(options);
  text += "\nmemtrace help " + std::string(name) + " shows the man page.\n";
  return text;
}

}  // namespace memtrace
