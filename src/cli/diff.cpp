// memtrace diff: what has changed from one recording to another.
#include <algorithm>
#include <array>
#include <utility>

#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/recorded_input.h"
#include "overview/whole_recording.h"
#include "report/difference.h"
#include "session/session.h"
#include "views/all/all_views.h"

namespace memtrace::diff_command {
namespace {

constexpr std::string_view kExample = "memtrace diff before.data after.data slab --by cache";

constexpr auto kOwnOptions = std::to_array<Option>({
    {"per-second", 0, "", "compare figures by second: the recordings are of different lengths"},
    {"share", 0, "", "compare shares of the total, in percent: the machine had more or less to do"},
    {"no-pager", 0, "", "write a long report to the terminal, not through a pager"},
});

std::vector<Option> all_options(const ViewSpec* view) {
  return with_report_options(joined({kOwnOptions, memory_options()}), view);
}

std::vector<Option> options() {
  return all_options(nullptr);
}

// The first word that is a view's name: its options are known only then.
const NamedView* named_view(const std::vector<std::string>& arguments) {
  const auto is_view = [](const std::string& word) { return find_view(word) != nullptr; };
  const auto found = std::ranges::find_if(arguments, is_view);
  return found == arguments.end() ? nullptr : find_view(*found);
}

// A view; without keys, by those that the user named.
struct Compared {
  const NamedView* view = nullptr;
  std::vector<std::string> by = {};
};

// Without a view: all that can have changed, what programs wait for first, by keys that mean the
// same in both recordings.
std::vector<Compared> all_compared() {
  constexpr auto kAll = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"enomem", "comm"},
      {"reclaim", "comm"},
      {"swapin", "comm"},
      {"compaction", "comm"},
      {"writeback", "comm"},
      {"hfaults", "comm"},
      {"leaks", "caller"},
      {"kleaks", "cache"},
      {"slab", "cache"},
      {"filepages", "comm"},
      {"mmap", "comm"},
      {"faults", "comm"},
      {"malloc", "comm"},
  });
  std::vector<Compared> compared;
  compared.reserve(kAll.size());
  for (const auto& [view, key] : kAll) {
    compared.push_back({.view = find_view(view), .by = {std::string(key)}});
  }
  return compared;
}

// What a recording says, all rows, with names: rows that are cut off cannot be found again in the
// other one.
struct Side {
  std::vector<Report> reports = {};
  std::vector<bool> has_events = {};  // of each view
};

Result<SessionOptions> read_side_options(const std::vector<Compared>& compared,
                                         const ParsedOptions& parsed) {
  auto options = read_session(parsed);
  if (!options.ok()) {
    return options;
  }
  for (const Compared& one : compared) {
    options.value().views.push_back(one.view);
    if (one.by.empty()) {
      read_own_options(parsed, one.view->spec, options.value().view_options);
    } else {
      options.value().choices.push_back({.by = one.by});
    }
  }
  options.value().arrange.top = 0;
  options.value().arrange.sort.clear();
  return options;
}

Result<Side> read_side(const std::string& input,
                       const std::vector<Compared>& compared,
                       const ParsedOptions& parsed,
                       std::uint64_t max_memory_bytes) {
  auto options = read_side_options(compared, parsed);
  auto source = open_recording(recorded_files({input}));
  if (!options.ok() || !source.ok()) {
    return options.ok() ? source.take_error() : options.take_error();
  }
  options.value().max_memory_bytes = max_memory_bytes;
  auto session = Session::create(*source.value(), options.take());
  if (!session.ok()) {
    return session.take_error();
  }
  Side side;
  TRY(session.value()->run([&side](std::vector<Report> made) -> Result<> {
    side.reports = std::move(made);
    return kDone;
  }));
  for (std::size_t i = 0; i < compared.size(); ++i) {
    side.has_events.push_back(session.value()->view_has_events(i));
  }
  return side;
}

// Events that one of the recordings lost are missing in the difference, too. A note that is not
// one of both says of which it is.
Caveats caveats_of(const Caveats& before,
                   const Caveats& after,
                   const std::vector<std::string>& names) {
  Caveats both = after;
  both.lost += before.lost;
  both.late += before.late;
  both.overload += before.overload;
  both.malformed += before.malformed;
  both.disk_full += before.disk_full;
  both.cut += before.cut;
  both.unmatched += before.unmatched;
  both.notes.clear();
  const auto has = [](const std::vector<std::string>& notes, const std::string& note) {
    return std::ranges::find(notes, note) != notes.end();
  };
  for (const std::string& note : before.notes) {
    both.notes.push_back(has(after.notes, note) ? note : names[0] + ": " + note);
  }
  for (const std::string& note : after.notes) {
    if (!has(before.notes, note)) {
      both.notes.push_back(names[1] + ": " + note);
    }
  }
  return both;
}

Result<DifferenceOptions> read_difference(const ParsedOptions& parsed, std::uint64_t usual_top) {
  const auto top = parsed.number("top", usual_top);
  if (!top.ok()) {
    return top.error();
  }
  if (parsed.has("per-second") && parsed.has("share")) {
    return Error{"--share beside --per-second",
                 0,
                 "a share is the same for each second: give one of them",
                 ErrorKind::Usage};
  }
  using Scale = DifferenceOptions::Scale;
  return DifferenceOptions{.figure = parsed.text("sort"),
                           .scale = parsed.has("per-second") ? Scale::PerSecond
                                    : parsed.has("share")    ? Scale::Share
                                                             : Scale::Whole,
                           .top = top.value()};
}

struct Sides {
  Side before;
  Side after;
};

Result<Sides> read_sides(const ParsedOptions& parsed, const std::vector<Compared>& compared) {
  const auto& words = parsed.positional();
  const auto bound = read_memory_bound(parsed);
  if (!bound.ok()) {
    return bound.error();
  }
  // The rows of the first stay.
  auto before = read_side(words[0], compared, parsed, bound.value() / 2);
  if (!before.ok()) {
    return before.take_error();
  }
  auto after = read_side(words[1], compared, parsed, bound.value());
  if (!after.ok()) {
    return after.take_error();
  }
  return Sides{.before = before.take(), .after = after.take()};
}

Result<Report> compare_view(const ParsedOptions& parsed, const NamedView& view) {
  const auto& words = parsed.positional();
  const auto wanted = read_difference(parsed, 20);
  if (!wanted.ok()) {
    return wanted.error();
  }
  const auto sides = read_sides(parsed, {{.view = &view}});
  if (!sides.ok()) {
    return sides.error();
  }
  const auto& [before, after] = sides.value();
  if (!before.has_events[0] || !after.has_events[0]) {
    return Error{words[before.has_events[0] ? 1 : 0] + " has no events for the view " +
                     std::string(view.name),
                 0,
                 "record both with: memtrace record --for " + std::string(view.name) + " ..."};
  }
  auto made = difference(before.reports[0], after.reports[0], wanted.value());
  if (made.ok()) {
    made.value().title += ": " + words[0] + " and " + words[1];
    made.value().caveats = caveats_of(before.reports[0].caveats, after.reports[0].caveats, words);
  }
  return made;
}

// The largest changes in each view that both recordings have events for.
Result<Report> compare_all(const ParsedOptions& parsed) {
  constexpr std::uint64_t kFirstRows = 3;
  const auto& words = parsed.positional();
  const auto compared = all_compared();
  const auto wanted = read_difference(parsed, kFirstRows);
  if (!wanted.ok()) {
    return wanted.error();
  }
  const auto sides = read_sides(parsed, compared);
  if (!sides.ok()) {
    return sides.error();
  }
  const auto& [before, after] = sides.value();
  Report all{.view = "diff", .title = "changes from " + words[0] + " to " + words[1]};
  all.caveats = caveats_of(shared_caveats(before.reports), shared_caveats(after.reports), words);
  std::size_t common = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (!before.has_events[i] || !after.has_events[i]) {
      continue;
    }
    ++common;
    auto made = difference(before.reports[i], after.reports[i], wanted.value());
    if (made.ok() && !made.value().tables.front().rows.empty()) {
      // Those that all views share stand once, at the end of the whole.
      made.value().caveats = all.caveats;
      made.value().caveats.notes =
          caveats_of(before.reports[i].caveats, after.reports[i].caveats, words).notes;
      all.reports.push_back(made.take());
    }
  }
  if (common == 0) {
    return Error{"the two recordings have events of no view in common",
                 0,
                 "record both with the same --for"};
  }
  if (all.reports.empty()) {
    all.caveats.notes.emplace_back("nothing has changed of what both recordings hold");
  }
  return all;
}

// Error: Usage, options that say how one view is compared.
Result<> check_all(const ParsedOptions& parsed) {
  for (const char* option : {"by", "sort", "hist"}) {
    if (parsed.has(option)) {
      return Error{"--" + std::string(option) + " without a view",
                   0,
                   std::string(kExample),
                   ErrorKind::Usage};
    }
  }
  return kDone;
}

Result<Report> compare(const ParsedOptions& parsed, const NamedView* view) {
  if (parsed.has("tree")) {
    return Error{"--tree: a difference is a table", 0, "leave it out", ErrorKind::Usage};
  }
  const auto& words = parsed.positional();
  if (words.size() == 3 && view == nullptr) {
    return unknown_view_or_alias(words[2]);
  }
  const bool is_whole = words.size() == 2 && view == nullptr;
  if (!is_whole && (words.size() != 3 || view == nullptr || words[2] != view->name)) {
    return Error{"two recordings are needed, and then a view or none",
                 0,
                 std::string(kExample),
                 ErrorKind::Usage};
  }
  TRY(is_whole ? check_all(parsed) : Result<>(kDone));
  return is_whole ? compare_all(parsed) : compare_view(parsed, *view);
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const NamedView* view = named_view(arguments);
  const auto known = all_options(view == nullptr ? nullptr : &view->spec);
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
  auto made = compare(parsed.value(), view);
  if (!made.ok()) {
    return made.take_error();
  }
  TRY(print_report(made.value(), print.value()));
  return 0;
}

}  // namespace
}  // namespace memtrace::diff_command

namespace memtrace {

const Command command_diff{
    .name = "diff",
    .usage = "BEFORE AFTER [VIEW] [OPTION]...",
    .summary = "Shows what has grown, shrunk, come and gone from one recording to another.",
    .options = diff_command::options,
    .run = diff_command::run,
};

}  // namespace memtrace
