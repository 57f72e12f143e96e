// memtrace doctor: what works on this machine, what does not, and what would change that.
#include "doctor/doctor.h"

#include <array>

#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "plan/events/event_selection.h"
#include "views/all/all_views.h"
#include "watch/watch_diagnosis.h"
#include "watch/watcher.h"

namespace memtrace::doctor_command {
namespace {

constexpr auto kOwnOptions =
    std::to_array<Option>({{"format", 0, "text|json|csv", "how to print the report"},
                           {"json", 0, "", "the same as --format json"}});

std::vector<Option> options() {
  return joined({kOwnOptions, help_option()});
}

// `memtrace doctor watch`: the command, which is no view.
constexpr std::string_view kWatch = "watch";

// What it is about.
struct Subjects {
  std::vector<NamedView> views;
  bool has_watch = false;
};

Subjects subjects_of_watch() {
  Subjects subjects{.views = {}, .has_watch = true};
  for (const std::string& name : views_of_triggers()) {
    subjects.views.push_back(*find_view(name));
  }
  return subjects;
}

// All, or the one that was named.
Result<Subjects> chosen_subjects(const std::vector<std::string>& words) {
  if (words.empty()) {
    const auto all = all_views();
    return Subjects{.views = {all.begin(), all.end()}, .has_watch = true};
  }
  if (words.size() > 1) {
    return Error{"'" + words[1] + "'", 0, "one view at a time", ErrorKind::Usage};
  }
  if (words.front() == kWatch) {
    return subjects_of_watch();
  }
  const NamedView* view = find_view(words.front());
  return view == nullptr ? Result<Subjects>(unknown_view(words.front()))
                         : Result<Subjects>(Subjects{.views = {*view}});
}

Report diagnosis_of(const Subjects& subjects) {
  const Diagnosis diagnosis = diagnose_machine(subjects.views);
  Report report = to_report(diagnosis);
  if (subjects.has_watch) {
    const RefusedProtection refused = try_protection(kWatchDefaultBytes + kWatchOverheadBytes);
    report.tables.push_back(watch_table(diagnose_watch(diagnosis.views, refused)));
  }
  return report;
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
  const auto subjects = chosen_subjects(parsed.value().positional());
  if (!subjects.ok()) {
    return subjects.error();
  }
  const std::string format =
      parsed.value().text("format", parsed.value().has("json") ? "json" : "text");
  TRY(check_format(format));
  TRY(print_report(diagnosis_of(subjects.value()), {.format = format}));
  return 0;
}

}  // namespace
}  // namespace memtrace::doctor_command

namespace memtrace {

const Command command_doctor{
    .name = "doctor",
    .usage = "[VIEW | watch] [OPTION]...",
    .summary = "Shows which views work on this machine, which do not, and what would change that.",
    .options = doctor_command::options,
    .run = doctor_command::run,
};

}  // namespace memtrace
