#include "overview/all_views_report.h"

#include <algorithm>

#include "overview/whole_recording.h"
#include "sections/recording_facts.h"
#include "session/dispatch/slot_views.h"
#include "state/world/resident_snapshot.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kFirstRows = 5;

Table event_table(const Session& session) {
  Table table{.title = "events",
              .columns = {{"event", Unit::Text}, {"samples", Unit::Count}, {"count", Unit::Count}},
              .key_count = 1,
              .fixed = true};
  for (const Session::EventCount& count : session.event_counts()) {
    if (count.samples > 0) {
      table.rows.push_back({Cell(count.name), Cell(count.samples), Cell(count.hits)});
    }
  }
  return table;
}

// What these say of all events stands in the table of events already.
bool repeats_events(const NamedView& view) {
  return view.name == "count" || view.name == "calls";
}

// kleaks groups by where a stack begins.
SessionOptions::Choice whole_stacks(const NamedView& view) {
  const auto usual = view.spec.default_by.empty() ? view.spec.keys.first(1) : view.spec.default_by;
  SessionOptions::Choice choice{.by = {usual.begin(), usual.end()}};
  std::ranges::replace(choice.by, "origin", "stack");
  return choice;
}

// To follow each page costs a quarter more: it is done for a recording that was made for it.
bool is_recorded_for(const NamedView& view, const RecordingFacts& about) {
  return !view.spec.needs_resident_pages ||
         std::ranges::find(about.observations, kResidentAtEnd, &Observation::reader) !=
             about.observations.end();
}

void choose_all_views(const Recording& recording, SessionOptions& options, ShownRows rows) {
  const RecordingFacts about = parse_recording_facts(recording.about_json);
  for (const NamedView& view : all_views()) {
    if (!repeats_events(view) && is_recorded_for(view, about)) {
      options.views.push_back(&view);
    }
  }
  if (rows == ShownRows::ByWholeStacks) {
    for (const NamedView* view : options.views) {
      options.choices.push_back(whole_stacks(*view));
    }
  }
}

std::vector<const Report*> all_of(const Report& overview) {
  std::vector<const Report*> reports = {&overview};
  for (const Report& report : overview.reports) {
    reports.push_back(&report);
  }
  return reports;
}

}  // namespace

Result<Report> make_all_views_report(RecordSource& source, SessionOptions options, ShownRows rows) {
  choose_all_views(source.recording(), options, rows);
  options.arrange.top = rows == ShownRows::First ? kFirstRows : options.arrange.top;
  options.arrange.closing_figures = false;
  TimelineCollector* const timeline = options.timeline;
  const SlotViews* const slot_views = options.slot_views;
  auto made = Session::create(source, std::move(options));
  if (!made.ok()) {
    return made.take_error();
  }
  Session& session = *made.value();
  Report overview{.view = "overview"};
  TRY(session.run([&overview](std::vector<Report> reports) -> Result<> {
    overview.caveats = shared_caveats(reports);
    overview.reports = std::move(reports);
    return kDone;
  }));
  std::vector<Report> held;
  for (std::size_t i = 0; i < overview.reports.size(); ++i) {
    // All of a recording's caveats stand once, at the end of the whole.
    if (session.view_has_events(i) && !overview.reports[i].inconclusive) {
      held.push_back(std::move(overview.reports[i]));
    }
  }
  overview.reports = std::move(held);
  describe_recording(session, source.recording(), overview);
  if (!overview.reports.empty()) {
    overview.clock = overview.reports.front().clock;
    overview.origin = overview.reports.front().origin;
  }
  overview.tables.push_back(event_table(session));
  if (timeline != nullptr) {
    auto taken = timeline->take(session.world(), session.namer());
    if (taken != nullptr && slot_views != nullptr) {
      slot_views->add_to(*taken, all_of(overview));
    }
    overview.timeline = std::move(taken);
  }
  return overview;
}

}  // namespace memtrace
