#include "overview/first_screen.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/thread/slow_step.h"
#include "base/units.h"
#include "overview/finding.h"
#include "overview/what_happened.h"
#include "overview/whole_recording.h"
#include "sections/recording_facts.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

// With three lines for each, and ten for what was recorded and what is missing, one screen.
constexpr std::size_t kMostFindings = 12;

// `fired`: of a file that memtrace watch wrote.
void choose_views(const WatchFacts& fired, SessionOptions& options) {
  for (const Finder& finder : all_finders()) {
    SessionOptions::Choice choice{.by = finder.by};
    for (const std::string& flag : finder.flags) {
      choice.own[flag] = "1";
    }
    options.views.push_back(find_view(finder.view));
    options.choices.push_back(std::move(choice));
  }
  if (!fired.triggers.empty()) {
    options.views.push_back(&memory_taken);
    options.choices.push_back(
        {.own = {{kTakenUntil, std::to_string(fired.triggers.front().time_ns)}}});
  }
  options.as_made = true;
  options.view_options.without_percentiles = true;  // no finding has one
  options.part = StackPart::Whole;                  // the kernel's part shows what memory is for
}

// What is in the recording and can be looked at.
std::string note_of(const Session& session, std::size_t left_out) {
  std::string note;
  if (left_out > 0) {
    note = counted(left_out, "more finding", "more findings") + " of less weight\n";
  }
  std::string names;
  for (std::size_t i = 0; i < all_finders().size(); ++i) {
    if (session.view_has_events(i)) {
      names += (names.empty() ? "" : ", ") + std::string(all_finders()[i].view);
    }
  }
  return note + (names.empty() ? "" : "views looked at: " + names + "; --all shows all views");
}

Table finding_table(std::vector<Finding> findings,
                    const Session& session,
                    const std::string& arguments) {
  const std::size_t found = findings.size();
  findings.resize(std::min(found, kMostFindings));
  Table table{.title = findings.empty() ? "nothing stands out" : "findings",
              .columns = {{"view", Unit::Text}, {"finding", Unit::Text}, {"command", Unit::Text}},
              .key_count = 3,
              .note = note_of(session, found - findings.size()),
              .fixed = true,
              .paragraphs = true};
  for (const Finding& finding : findings) {
    table.rows.push_back(
        {finding.view, finding.sentence, "memtrace report " + finding.command + arguments});
  }
  return table;
}

FindingContext::Scope scope_of(const Recording& recording, bool is_filtered) {
  using Scope = FindingContext::Scope;
  return is_filtered                                                 ? Scope::Selected
         : parse_recording_facts(recording.about_json).whole_machine ? Scope::Machine
                                                                     : Scope::Recorded;
}

std::vector<Finding> find_all(const std::vector<Report>& reports,
                              FindingContext::Scope scope,
                              Session& session) {
  const View::Span span = session.span();
  const FindingContext context{
      .span_ns = span.end_ns - span.start_ns, .scope = scope, .namer = session.namer()};
  std::vector<Finding> findings;
  const SlowStep step("looking up names");
  for (std::size_t i = 0; i < all_finders().size(); ++i) {
    if (session.view_has_events(i)) {
      std::ranges::move(all_finders()[i].find(reports[i], context), std::back_inserter(findings));
    }
  }
  sort_by_weight(findings);
  return findings;
}

}  // namespace

Result<Report> make_first_screen(RecordSource& source,
                                 SessionOptions options,
                                 const std::string& arguments) {
  const bool is_filtered = !options.view_options.tasks.empty();
  const WatchFacts fired = parse_recording_facts(source.recording().about_json).watch;
  choose_views(fired, options);
  auto made = Session::create(source, std::move(options));
  if (!made.ok()) {
    return made.take_error();
  }
  Session& session = *made.value();
  std::vector<Finding> findings;
  Report screen{.view = "overview"};
  Table happened;
  TRY(session.run([&](std::vector<Report> reports) -> Result<> {
    findings = find_all(reports, scope_of(source.recording(), is_filtered), session);
    screen.caveats = shared_caveats(reports);
    screen.clock = reports.front().clock;
    const std::size_t taken = all_finders().size();
    happened = what_happened(
        {.watch = fired,
         .taken =
             taken < reports.size() && session.view_has_events(taken) ? &reports[taken] : nullptr,
         .clock = screen.clock,
         .start_ns = session.span().start_ns,
         .arguments = arguments},
        session.namer());
    return kDone;
  }));
  describe_recording(session, source.recording(), screen);
  if (!happened.rows.empty()) {
    screen.tables.push_back(std::move(happened));
  }
  screen.tables.push_back(finding_table(std::move(findings), session, arguments));
  return screen;
}

}  // namespace memtrace
