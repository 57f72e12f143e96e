#include <sys/wait.h>

#include <array>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "perf/target.h"
#include "views/view.h"

namespace memtrace {
namespace {

constexpr auto kCommands =
    std::to_array<const Command*>({&command_record, &command_report, &command_help});

constexpr auto kAliases = std::to_array<Alias>({
    {"kmalloc-top", "kmalloc", "--sort count"},
    {"kmem", "kmalloc", "--by stack,comm"},
    {"kpages", "pages", "--by stack,comm"},
    {"slabratetop", "slab", "--sort bytes"},
});

Error unknown_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command* command : kCommands) {
    names.emplace_back(command->name);
  }
  for (const NamedView& view : all_views()) {
    names.emplace_back(view.name);
  }
  for (const Alias& alias : kAliases) {
    names.emplace_back(alias.name);
  }
  const auto near = nearest(name, names);
  return {"unknown command or view '" + name + "'",
          0,
          near.empty() ? "memtrace help lists them" : "did you mean " + join(near, " or ") + "?",
          ErrorKind::Usage};
}

Result<ExitStatus> run_alias(const Alias& alias, const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  for (const std::string_view word : split(alias.options, ' ')) {
    all.emplace_back(word);
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_live_view(alias.view, all);
}

}  // namespace

std::span<const Command* const> all_commands() {
  return kCommands;
}

std::span<const Alias> all_aliases() {
  return kAliases;
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
  if (arguments[0] == "--version" || arguments[0] == "-V") {
    return command_help.run({"--version"});
  }
  const std::string& name = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const Command* command : kCommands) {
    if (command->name == name) {
      return command->run(rest);
    }
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) {
      return run_alias(alias, rest);
    }
  }
  return find_view(name) != nullptr ? run_live_view(name, rest) : unknown_command(name);
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
