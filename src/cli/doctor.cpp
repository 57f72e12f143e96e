// memtrace doctor: what works on this machine, what does not, and what would change that.
#include "doctor/doctor.h"

#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/print.h"
#include "plan/events/event_selection.h"
#include "render/text_line.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr auto kOwnOptions =
    std::to_array<Option>({{"json", 0, "", "for programs: one JSON object"}});

std::vector<Option> options() {
  return joined({kOwnOptions, help_option()});
}

constexpr std::size_t kWidth = 80;
constexpr std::size_t kNameWidth = 29;

// "name       value", and below it what to know or to do.
std::string entry(std::string_view name, std::string_view value, std::string_view note) {
  std::string text;
  const std::string line =
      format("%-*.*s ", static_cast<int>(kNameWidth), static_cast<int>(name.size()), name.data()) +
      std::string(value);
  for (const std::string& part : wrap(line, kWidth, kNameWidth + 1)) {
    text += part + "\n";
  }
  if (!note.empty()) {
    for (const std::string& part : wrap("  -> " + std::string(note), kWidth, 5)) {
      text += part + "\n";
    }
  }
  return text;
}

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Fact& fact : diagnosis.facts) {
    text += entry(fact.name, fact.value, fact.advice);
  }
  text += "\n";
  for (const ViewDiagnosis& view : diagnosis.views) {
    text += entry(view.view, name_of(view.state), join(view.findings, "; "));
  }
  return text;
}

// All, or the one that was named.
Result<std::span<const NamedView>> chosen_views(const std::vector<std::string>& words) {
  if (words.empty()) {
    return all_views();
  }
  if (words.size() > 1) {
    return Error{"'" + words[1] + "'", 0, "one view at a time", ErrorKind::Usage};
  }
  const NamedView* view = find_view(words.front());
  return view == nullptr ? Result<std::span<const NamedView>>(unknown_view(words.front()))
                         : std::span(view, 1);
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const auto known = options();
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("doctor", command_doctor.usage, command_doctor.summary, known)));
    return 0;
  }
  auto views = chosen_views(parsed.value().positional());
  if (!views.ok()) {
    return views.take_error();
  }
  const Diagnosis diagnosis = diagnose_machine(views.value());
  TRY(parsed.value().has("json") ? print_report(to_report(diagnosis), {.format = "json"})
                                 : print_text(to_text(diagnosis)));
  return 0;
}

}  // namespace

const Command command_doctor{
    .name = "doctor",
    .usage = "[VIEW] [OPTION]...",
    .summary = "Shows which views work on this machine, which do not, and what would change that.",
    .options = options,
    .run = run,
};

}  // namespace memtrace
