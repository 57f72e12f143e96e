// memtrace diff: what has changed from one recording to another.
#include <algorithm>
#include <array>

#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/recorded_input.h"
#include "report/difference.h"
#include "session/session.h"

namespace memtrace {
namespace {

constexpr std::string_view kExample = "memtrace diff before.data after.data slab --by cache";

constexpr auto kOwnOptions = std::to_array<Option>({
    {"per-second", 0, "", "compare figures by second: the recordings are of different lengths"},
    {"no-pager", 0, "", "write a long report to the terminal, not through a pager"},
});

std::vector<Option> options() {
  return with_report_options(kOwnOptions, nullptr);
}

// The first word that is a view's name: its options are known only then.
const NamedView* named_view(const std::vector<std::string>& arguments) {
  const auto is_view = [](const std::string& word) { return find_view(word) != nullptr; };
  const auto found = std::ranges::find_if(arguments, is_view);
  return found == arguments.end() ? nullptr : find_view(*found);
}

// All rows, with names: rows that are cut off cannot be found again in the other recording.
Result<Report> whole_report(const std::string& input,
                            const NamedView& view,
                            const ParsedOptions& parsed) {
  auto options = read_session(parsed);
  auto source = open_recording(recorded_files({input}));
  if (!options.ok() || !source.ok()) {
    return options.ok() ? source.take_error() : options.take_error();
  }
  options.value().views = {&view};
  options.value().arrange.top = 0;
  options.value().arrange.sort.clear();
  read_own_options(parsed, view.spec, options.value().view_options);
  auto session = Session::create(*source.value(), options.take());
  if (!session.ok()) {
    return session.take_error();
  }
  Report report;
  TRY(session.value()->run([&report](std::vector<Report> made) -> Result<> {
    report = std::move(made.front());
    return kDone;
  }));
  if (!session.value()->view_has_events(0)) {
    return Error{input + " has no events for the view " + std::string(view.name),
                 0,
                 "record both with: memtrace record --for " + std::string(view.name) + " ..."};
  }
  return report;
}

// Events that one of the recordings lost are missing in the difference, too.
Caveats caveats_of(const Report& before, const Report& after) {
  Caveats both = after.caveats;
  both.lost += before.caveats.lost;
  both.late += before.caveats.late;
  both.overload += before.caveats.overload;
  both.malformed += before.caveats.malformed;
  both.disk_full += before.caveats.disk_full;
  both.cut += before.caveats.cut;
  both.unmatched += before.caveats.unmatched;
  for (const std::string& note : before.caveats.notes) {
    if (std::ranges::find(both.notes, note) == both.notes.end()) {
      both.notes.push_back(note);
    }
  }
  return both;
}

Result<ExitStatus> compare(const ParsedOptions& parsed,
                           const NamedView& view,
                           const PrintOptions& print) {
  const auto& words = parsed.positional();
  auto top = parsed.number("top", 20);
  auto before = whole_report(words[0], view, parsed);
  if (!before.ok() || !top.ok()) {
    return before.ok() ? top.take_error() : before.take_error();
  }
  auto after = whole_report(words[1], view, parsed);
  if (!after.ok()) {
    return after.take_error();
  }
  auto made = difference(
      before.value(),
      after.value(),
      {.figure = parsed.text("sort"), .per_second = parsed.has("per-second"), .top = top.value()});
  if (!made.ok()) {
    return made.take_error();
  }
  made.value().title += ": " + words[0] + " and " + words[1];
  made.value().caveats = caveats_of(before.value(), after.value());
  TRY(print_report(made.value(), print));
  return 0;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const NamedView* view = named_view(arguments);
  const auto known = with_report_options(kOwnOptions, view == nullptr ? nullptr : &view->spec);
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("diff", command_diff.usage, command_diff.summary, known)));
    return 0;
  }
  auto print = read_print_options(parsed.value());
  if (!print.ok()) {
    return print.error();
  }
  print.value().may_page = !parsed.value().has("no-pager");
  if (parsed.value().has("tree")) {
    return Error{"--tree: a difference is a table", 0, "leave it out", ErrorKind::Usage};
  }
  const auto& words = parsed.value().positional();
  if (words.size() == 3 && view == nullptr) {
    return unknown_view_or_alias(words[2]);
  }
  if (words.size() != 3 || view == nullptr || words[2] != view->name) {
    return Error{
        "two recordings and a view are needed", 0, std::string(kExample), ErrorKind::Usage};
  }
  return compare(parsed.value(), *view, print.value());
}

}  // namespace

const Command command_diff{
    .name = "diff",
    .usage = "BEFORE AFTER VIEW [OPTION]...",
    .summary = "Shows what has grown, shrunk, come and gone from one recording to another.",
    .options = options,
    .run = run,
};

}  // namespace memtrace
