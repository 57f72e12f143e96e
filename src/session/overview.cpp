#include "session/overview.h"

#include <algorithm>

#include "base/text.h"
#include "sections/recording_facts.h"
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

std::string title_of(const Recording& recording) {
  const RecordingFacts about = parse_recording_facts(recording.about_json);
  std::string title = "recording";
  if (!about.target.empty()) {
    title += " of " + about.target;
  }
  if (!recording.host_name.empty()) {
    title += " on " + recording.host_name + " (" + recording.kernel_release + ")";
  }
  return title;
}

// What all views say of the recording, without what one of them says of itself.
Caveats shared_caveats(const std::vector<Report>& reports) {
  Caveats shared = reports.front().caveats;
  for (const Report& report : reports) {
    const auto& notes = report.caveats.notes;
    std::erase_if(shared.notes, [&notes](const std::string& note) {
      return std::find(notes.begin(), notes.end(), note) == notes.end();
    });
    if (report.caveats.unmatched > shared.unmatched) {
      shared.unmatched = report.caveats.unmatched;
      shared.unmatched_why = report.caveats.unmatched_why;
    }
  }
  return shared;
}

std::uint64_t samples_of(const Session& session) {
  std::uint64_t samples = 0;
  for (const Session::EventCount& count : session.event_counts()) {
    samples += count.samples;
  }
  return samples;
}

}  // namespace

Result<Report> make_overview(RecordSource& source, SessionOptions options) {
  for (const NamedView& view : all_views()) {
    if (!repeats_events(view)) {
      options.views.push_back(&view);
    }
  }
  options.arrange.top = kFirstRows;
  options.arrange.closing_figures = false;
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
  overview.title = title_of(source.recording());
  overview.start_ns = session.span().start_ns;
  overview.end_ns = session.span().end_ns;
  overview.totals = {{"span", Unit::Nanoseconds, overview.end_ns - overview.start_ns},
                     {"processes", Unit::Count, session.world().processes().seen()},
                     {"samples", Unit::Count, samples_of(session)}};
  overview.tables.push_back(event_table(session));
  return overview;
}

}  // namespace memtrace
