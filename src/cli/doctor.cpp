// memtrace doctor: what works on this machine, what does not, and what would change that.
#include "doctor/doctor.h"

#include <array>

#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "plan/events/event_selection.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr auto kOwnOptions =
    std::to_array<Option>({{"format", 0, "text|json|csv", "how to print the report"},
                           {"json", 0, "", "the same as --format json"}});

std::vector<Option> options() {
  return joined({kOwnOptions, help_option()});
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
  const std::string format =
      parsed.value().text("format", parsed.value().has("json") ? "json" : "text");
  TRY(check_format(format));
  TRY(print_report(to_report(diagnose_machine(views.value())), {.format = format}));
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
