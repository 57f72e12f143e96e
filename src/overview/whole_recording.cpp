#include "overview/whole_recording.h"

#include <algorithm>
#include <string>

#include "sections/recording_facts.h"

namespace memtrace {
namespace {

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

std::uint64_t samples_of(const Session& session) {
  std::uint64_t samples = 0;
  for (const Session::EventCount& count : session.event_counts()) {
    samples += count.samples;
  }
  return samples;
}

}  // namespace

void describe_recording(const Session& session, const Recording& recording, Report& report) {
  report.title = title_of(recording);
  report.start_ns = session.span().start_ns;
  report.end_ns = session.span().end_ns;
  report.totals = {{"span", Unit::Nanoseconds, report.end_ns - report.start_ns},
                   {"processes", Unit::Count, session.world().processes().seen()},
                   {"samples", Unit::Count, samples_of(session)}};
}

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

}  // namespace memtrace
