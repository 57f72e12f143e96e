#include <fmt/core.h>

#include "base/text.h"
#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/man_pages.h"
#include "cli/output/print.h"
#include "views/all/all_views.h"

namespace memtrace::help_command {
namespace {

std::vector<Option> options() {
  return {};
}

std::string row(std::string_view name, std::string_view summary) {
  return fmt::format("  {:<14} {}\n", name, summary);
}

std::string overview() {
  std::string text =
      "memtrace shows who uses memory on this machine.\n\n  sudo memtrace record -- COMMAND    "
      "then    memtrace report\n  sudo memtrace VIEW -a 1            a table each second, "
      "without a file\n\nCommands:\n";
  for (const Command* command : all_commands()) {
    text += row(command->name, command->summary);
  }
  text += "\nViews, for report, record --for, or live:\n";
  for (const NamedView& view : all_views()) {
    text += row(view.name, view.spec.summary);
  }
  text += "\nKnown from other tools:\n";
  for (const Alias& alias : all_aliases()) {
    text += row(alias.name, spelled_out(alias));
  }
  text += "\nmemtrace help TOPIC shows the man page of a command or view, --help its options.\n";
  return text;
}

Result<ExitStatus> show_page(const std::string& topic) {
  const std::string page = topic == "memtrace" ? topic : "memtrace-" + topic;
  std::vector<std::string> topics;
  for (const ManPage& known : man_pages()) {
    if (known.name == page) {
      const auto printed = print_text(std::string(known.text));
      return printed.ok() ? Result<ExitStatus>(0) : printed.error();
    }
    const bool is_sub_page = known.name.starts_with("memtrace-");
    topics.emplace_back(is_sub_page ? known.name.substr(9) : known.name);
  }
  if (const Alias* alias = find_alias(topic)) {
    return show_page(std::string(alias->view));
  }
  const auto near = nearest(topic, topics);
  return Error{"no help on '" + topic + "'",
               0,
               near.empty() ? "topics are: " + join(topics, ", ")
                            : "did you mean " + join(near, " or ") + "?",
               ErrorKind::Usage};
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "help") {
    TRY(print_text(overview()));
    return 0;
  }
  return show_page(arguments.front() == "--help" ? "memtrace" : arguments.front());
}

}  // namespace
}  // namespace memtrace::help_command

namespace memtrace {

const Command command_help{
    .name = "help",
    .usage = "[TOPIC]",
    .summary = "Shows the man page of a command or a view.",
    .options = help_command::options,
    .run = help_command::run,
};

}  // namespace memtrace
