#include <algorithm>
#include <optional>
#include <span>

#include "base/shell_word.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/output/progress_source.h"
#include "cli/recorded_input.h"
#include "os/system.h"
#include "overview/all_views_report.h"
#include "overview/first_screen.h"
#include "plan/events/event_selection.h"
#include "render/all/all_renderers.h"
#include "session/dispatch/slot_views.h"
#include "session/session.h"
#include "timeline/timeline_collector.h"
#include "views/all/all_views.h"

namespace memtrace::report_command {
namespace {

constexpr const char* kDefaultInput = "memtrace.data";

constexpr auto kOwnOptions = std::to_array<Option>({
    {"input", 'i', "FILE,...", "read FILE (default memtrace.data), or several; - reads a pipe"},
    {"pid", 'p', "PID,...", "only these processes"},
    {"tid", 't', "TID,...", "only these threads"},
    {"all", 0, "", "without a view: the first rows of all views, not only findings"},
    {"host-columns", 0, "", "csv: begin each line with host, boot id, times and view"},
    {"output", 'o', "FILE", "write the report to FILE, not to standard output"},
    {"push", 0, "URL", "send the report as pprof to a server that collects profiles"},
    {"no-pager", 0, "", "write a long report to the terminal, not through a pager"},
    {"time",
     0,
     "START,STOP",
     "only events between these times: since the recording began, or of day"},
    {"since", 0, "TIME", "only events from this time on"},
    {"until", 0, "TIME", "only events up to this time"},
});

// The name of a file may contain a comma.
std::vector<std::string> inputs(const ParsedOptions& parsed) {
  const std::string whole = parsed.text("input", kDefaultInput);
  const bool is_one = parsed.count("input") <= 1 && path_exists(whole);
  return recorded_files(is_one || !parsed.has("input") ? std::vector{whole} : parsed.list("input"));
}

std::vector<Option> all_options(const ViewSpec* view) {
  return with_report_options(joined({kOwnOptions, memory_options()}), view);
}

std::vector<Option> options() {
  return all_options(nullptr);
}

// The options of all views: the view is known only after parsing.
std::vector<Option> options_of_all_views() {
  auto all = all_options(nullptr);
  const auto add = [&all](const Option& own) {
    const auto same = [&own](const Option& known) { return known.name == own.name; };
    if (std::none_of(all.begin(), all.end(), same)) {
      all.push_back(own);
    }
  };
  for (const NamedView& view : all_views()) {
    std::ranges::for_each(view_own_options(view.spec), add);
  }
  return all;
}

bool names_view(std::span<const Option> known,
                const std::vector<std::string>& arguments,
                const NamedView& view) {
  const auto parsed = parse_options(known, arguments);
  return parsed.ok() && !parsed.value().positional().empty() &&
         find_view_or_alias(parsed.value().positional().front()) == &view;
}

// An option may be a flag to one view and have an argument with another (--hist): then the words
// are looked at as each view that is among them would.
const NamedView* named_view(const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(options_of_all_views(), arguments);
  if (parsed.ok() && !parsed.value().positional().empty()) {
    return find_view_or_alias(parsed.value().positional().front());
  }
  for (const std::string& word : arguments) {
    const NamedView* view = find_view_or_alias(word);
    if (view != nullptr && names_view(all_options(&view->spec), arguments, *view)) {
      return view;
    }
  }
  return nullptr;
}

// Of these notes, those that may explain why there is nothing to show: "; the file is cut".
std::string reasons_in(const std::vector<std::string>& notes, const Session& session) {
  const std::vector<std::string> of_samples = session.notes_of_samples();
  std::string reasons;
  for (const std::string& note : notes) {
    const bool explains = std::ranges::find(of_samples, note) == of_samples.end();
    reasons += explains ? "; " + note : "";
  }
  return reasons;
}

// The view's events are there, but something that decides what they mean is missing: the report's
// notes name it.
Error undecided(const NamedView& view, const Session& session, const Report& report) {
  return {
      "what was recorded does not decide what the view " + std::string(view.name) + " shows" +
          reasons_in(report.caveats.notes, session),
      0,
      "record what the view needs with: memtrace record --for " + std::string(view.name) + " ..."};
}

Error no_events(const NamedView& view, const Session& session, const Report& report) {
  const bool inconclusive = report.inconclusive && !report.nothing_happened;
  std::vector<std::string> held;
  for (const auto& count : session.event_counts()) {
    if (count.samples > 0) {
      held.push_back(count.name);
    }
  }
  const bool was_watched = !inconclusive && session.view_is_recorded(0);
  std::string message = was_watched
                            ? "nothing that the view " + std::string(view.name) +
                                  " shows happened while this was recorded"
                            : "the recording has no events for the view " + std::string(view.name);
  message += reasons_in(session.caveats().notes, session);
  if (was_watched) {
    return {message,
            0,
            session.may_miss_events(report)
                ? "the recording may not hold all that happened: record again"
                : "its events were watched and none came: record for longer"};
  }
  return {message,
          0,
          "it holds " + (held.empty() ? "no events at all" : join(held, ", ")) +
              "; record what the view needs with: memtrace record --for " + std::string(view.name) +
              " ..."};
}

std::uint64_t samples_in(const Report& overview) {
  const auto is_samples = [](const Total& total) { return total.name == "samples"; };
  const auto found = std::find_if(overview.totals.begin(), overview.totals.end(), is_samples);
  return found == overview.totals.end() ? 0 : found->value;
}

// Why there is nothing to show, as far as the file says.
Error no_samples(const std::string& input, const Caveats& caveats) {
  if (caveats.missing() > 0) {
    return {input + " holds no events: " + print_count(caveats.missing()) + " were lost",
            0,
            "record again with a larger --ring-size, fewer events or more room on the disk"};
  }
  return {input + " holds no events",
          0,
          caveats.notes.empty() ? "none of the recorded events happened: record for longer, or "
                                  "other events with -e or --for"
                                : join(caveats.notes, " ")};
}

// Events that other views share with it are there, those that it rests on are not.
bool says_nothing(const Report& report) {
  return report.inconclusive &&
         std::ranges::all_of(report.tables, [](const Table& table) { return table.rows.empty(); });
}

// Nothing, or why the report would not be true to what is asked for.
Result<> check_shows_something(const NamedView& view, const Session& session, const Report& made) {
  const bool is_undecided =
      says_nothing(made) && !made.nothing_happened && !made.caveats.notes.empty();
  if (session.view_has_events(0) && is_undecided) {
    return undecided(view, session, made);
  }
  if (!session.view_has_events(0) || says_nothing(made)) {
    return no_events(view, session, made);
  }
  return kDone;
}

Result<ExitStatus> report_view(RecordSource& source,
                               SessionOptions options,
                               const PrintOptions& print) {
  const NamedView& view = *options.views.front();
  const bool wants_lines = options.view_options.wants_lines();
  TimelineCollector* const timeline = options.timeline;
  const SlotViews* const slot_views = options.slot_views;
  std::optional<LinePrinter> lines;
  if (wants_lines) {
    auto printer = LinePrinter::create("--trace", print);
    if (!printer.ok()) {
      return printer.take_error();
    }
    lines.emplace(printer.take());
  }
  auto session = Session::create(source, std::move(options));
  if (!session.ok()) {
    return session.take_error();
  }
  std::vector<Report> reports;
  TRY(session.value()->run(
      [&reports](std::vector<Report> made) -> Result<> {
        reports = std::move(made);
        return kDone;
      },
      [&lines](const Report& made) { return lines->print(made); }));
  TRY(check_shows_something(view, *session.value(), reports.front()));
  if (timeline != nullptr) {
    auto taken = timeline->take(session.value()->world(), session.value()->namer());
    if (taken != nullptr && slot_views != nullptr) {
      slot_views->add_to(*taken, {&reports.front()});
    }
    reports.front().timeline = std::move(taken);
  }
  TRY(lines ? lines->end(reports.front()) : print_report(reports.front(), print));
  return 0;
}

// What makes a shell's command read the same recording.
std::string input_arguments(const ParsedOptions& parsed) {
  const std::string files = join(parsed.list("input"), ",");
  return files.empty() ? "" : " -i " + (files == "-" ? "FILE" : shell_word(files));
}

Result<ExitStatus> report_overview(RecordSource& source,
                                   SessionOptions options,
                                   const PrintOptions& print,
                                   const ParsedOptions& parsed) {
  // Findings have no stacks to fold, and no figures to collect.
  const NamedRenderer& renderer = *find_renderer(parsed.text("format", "text"));
  const ShownRows rows = !renderer.wants_all_views ? ShownRows::First
                         : renderer.draws_stacks   ? ShownRows::ByWholeStacks
                                                   : ShownRows::AsAsked;
  auto overview = parsed.has("all") || renderer.wants_all_views
                      ? make_all_views_report(source, std::move(options), rows)
                      : make_first_screen(source, std::move(options), input_arguments(parsed));
  if (!overview.ok()) {
    return overview.take_error();
  }
  if (samples_in(overview.value()) == 0) {
    return no_samples(join(inputs(parsed), ", "), overview.value().caveats);
  }
  TRY(print_report(overview.value(), print));
  return 0;
}

// Whole stacks for formats that draw them, of each process where they have a place for whose they
// are.
void ask_for_stacks(const ParsedOptions& parsed, const ViewSpec& view, ViewOptions& options) {
  const NamedRenderer* renderer = find_renderer(parsed.text("format", "text"));
  if (!renderer->draws_stacks || !options.by.empty() || !has_stack_key(view, {})) {
    return;
  }
  // Every view with the key pid has comm, and users and cgroups, too (views/kit/keys.h).
  if (renderer->wants_processes && std::ranges::find(view.keys, "pid") != view.keys.end()) {
    options.by = {"comm", "pid", "cgroup"};
  }
  const auto own = view.default_by.empty() ? view.keys.first(1) : view.default_by;
  options.by.insert(options.by.end(), own.begin(), own.end());
  std::ranges::replace(options.by, "origin", "stack");
}

// --time, or in two words --since and --until.
Result<TimeWindow> read_window(const ParsedOptions& parsed) {
  const bool has_ends = parsed.has("since") || parsed.has("until");
  if (has_ends && parsed.has("time")) {
    return Error{"--time beside " + std::string(parsed.has("since") ? "--since" : "--until"),
                 0,
                 "--time START,STOP has both ends",
                 ErrorKind::Usage};
  }
  const std::string ends = parsed.text("since") + "," + parsed.text("until");
  return parsed.has("time") || has_ends ? parse_time_window(has_ends ? ends : parsed.text("time"))
                                        : Result<TimeWindow>(TimeWindow{});
}

// What is asked of a file beside what every view takes.
Result<SessionOptions> read_file_session(const ParsedOptions& parsed) {
  auto session = read_session(parsed);
  auto pids = read_ids(parsed, "pid");
  auto tids = read_ids(parsed, "tid");
  auto window = read_window(parsed);
  if (!session.ok()) {
    return session;
  }
  if (!pids.ok() || !tids.ok()) {
    return pids.ok() ? tids.take_error() : pids.take_error();
  }
  if (!window.ok()) {
    return window.take_error();
  }
  session.value().view_options.tasks.pids = pids.take();
  session.value().view_options.tasks.tids = tids.take();
  const auto bound = read_memory_bound(parsed);
  if (!bound.ok()) {
    return bound.error();
  }
  session.value().times.window = window.value();
  session.value().max_memory_bytes = bound.value();
  return session;
}

Result<ExitStatus> run_parsed(const ParsedOptions& parsed, const NamedView* view) {
  auto session = read_file_session(parsed);
  if (!session.ok()) {
    return session.take_error();
  }
  auto print = read_print_options(parsed);
  if (!print.ok()) {
    return print.error();
  }
  print.value().may_page = !parsed.has("no-pager");
  TRY(check_printing(print.value(), view == nullptr ? "" : view->name));
  auto opened = open_recording(inputs(parsed));
  if (!opened.ok()) {
    return opened.take_error();
  }
  for (const char* option : {"tree", "depth"}) {
    if (view == nullptr && parsed.has(option)) {
      return Error{"--" + std::string(option) + " without a view",
                   0,
                   "name one, as in: memtrace report kmalloc --tree --depth 8",
                   ErrorKind::Usage};
    }
  }
  ProgressSource source(opened.take());
  TimelineCollector timeline;
  SlotViews slot_views(timeline);
  if (find_renderer(print.value().format)->wants_timeline) {
    session.value().timeline = &timeline;
    session.value().slot_views = &slot_views;
  }
  if (view == nullptr) {
    return report_overview(source, session.take(), print.value(), parsed);
  }
  session.value().views = {view};
  read_own_options(parsed, view->spec, session.value().view_options);
  ask_for_stacks(parsed, view->spec, session.value().view_options);
  return report_view(source, session.take(), print.value());
}

// What is sent has one format, and goes to one place.
Result<> check_push_alone(const ParsedOptions& parsed) {
  for (const char* other : {"format", "output", "trace"}) {
    if (parsed.has(other)) {
      return Error{"--push beside --" + std::string(other),
                   0,
                   "it sends the report as pprof, and writes nothing",
                   ErrorKind::Usage};
    }
  }
  return kDone;
}

Result<> check_words(const std::vector<std::string>& words, const NamedView* view) {
  if (!words.empty() && view == nullptr) {
    Error error = unknown_view_or_alias(words.front());
    if (path_exists(words.front())) {
      error.hint = "give the file with -i: memtrace report -i " + words.front();
    }
    return error;
  }
  if (words.size() > 1) {
    return Error{"'" + words[1] + "'", 0, "one view at a time", ErrorKind::Usage};
  }
  return kDone;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const NamedView* view = named_view(arguments);
  const auto known = all_options(view == nullptr ? nullptr : &view->spec);
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("report", command_report.usage, command_report.summary, known)));
    return 0;
  }
  const auto& words = parsed.value().positional();
  TRY(check_words(words, view));
  const Alias* alias = words.empty() ? nullptr : find_alias(words.front());
  std::vector<std::string> full =
      alias == nullptr ? arguments : with_alias_option(*alias, known, arguments);
  if (parsed.value().has("push")) {
    TRY(check_push_alone(parsed.value()));
    full.insert(full.begin(), "--format=pprof");
  }
  const auto complete = parse_options(known, full);
  return complete.ok() ? run_parsed(complete.value(), words.empty() ? nullptr : view)
                       : Result<ExitStatus>(complete.error());
}

}  // namespace
}  // namespace memtrace::report_command

namespace memtrace {

const Command command_report{
    .name = "report",
    .usage = "[VIEW] [OPTION]...",
    .summary = "Shows a recording: one view of it, or without a view all that it holds.",
    .options = report_command::options,
    .run = report_command::run,
};

}  // namespace memtrace
