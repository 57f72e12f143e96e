#include "session/caveat_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "plan/events/event_narrowing.h"

namespace memtrace {
namespace {

void add_new(const std::vector<std::string>& notes, std::vector<std::string>& all) {
  for (const std::string& note : notes) {
    if (std::find(all.begin(), all.end(), note) == all.end()) {
      all.push_back(note);
    }
  }
}

}  // namespace

void CaveatWriter::write(std::size_t view_index, Report& report) const {
  const ViewSpec& view = of_.options.views[view_index]->spec;
  Caveats known = shared();
  of_.losses.note(known);
  if (view.needs_live_blocks) {
    note_bounds(report, known);
    note_partial(view, known);
    note_earlier_files(view, known);
    note_unmatched(view_index, known);
  } else if (view.needs_resident_pages) {
    note_earlier_files(view, known);
  }
  note_parts(view, known);
  note_lost_mappings(view, known);
  note_clock(report, known);
  if (is_sampled(view_index)) {
    known.notes.emplace_back(
        "events were sampled one in N: counts and bytes are scaled by N, and live blocks are not "
        "exact");
  }
  known.notes.insert(known.notes.end(), report.caveats.notes.begin(), report.caveats.notes.end());
  report.caveats = std::move(known);
  of_.unknown.note(of_.options.view_options, of_.pipeline.has_identities(), report.caveats);
  note_empty(report);
}

// The loss in the records, classified by what `record` wrote about itself.
Caveats CaveatWriter::shared() const {
  Caveats all = of_.losses.losses();
  const auto move = [&all](std::uint64_t count, std::uint64_t Caveats::*to) {
    const std::uint64_t known = std::min(count, all.lost);
    all.lost -= known;
    all.*to += known;
  };
  if (of_.about.losses.empty()) {
    move(of_.about.late, &Caveats::late);
    move(of_.about.overload, &Caveats::overload);
    move(of_.about.malformed, &Caveats::malformed);
  }
  all.malformed += of_.pipeline.decoder().malformed();
  all.cut += of_.about.cut_stacks;
  all.disk_full += of_.about.disk_full;
  for (const auto& notes : {bound_note(),
                            own_work_note(),
                            of_.pipeline.recording().caveats,
                            of_.about.notes,
                            of_.pipeline.decoder().caveats(),
                            of_.pipeline.taken_events().notes(),
                            of_.pipeline.user_stacks().caveats(),
                            of_.naming.caveats()}) {
    add_new(notes, all.notes);
  }
  return all;
}

std::vector<std::string> CaveatWriter::bound_note() const {
  return of_.bound.was_reached() ? std::vector{of_.bound.note(of_.shown_ns)}
                                 : std::vector<std::string>();
}

std::vector<std::string> CaveatWriter::own_work_note() const {
  if (of_.about.own_samples == 0) {
    return {};
  }
  return {counted(of_.about.own_samples,
                  "event of memtrace's own work was left out",
                  "events of memtrace's own work were left out")};
}

std::vector<std::string> CaveatWriter::notes_of_samples() const {
  std::vector<std::string> all;
  for (const auto& notes : {own_work_note(),
                            of_.about.notes_of_samples,
                            of_.pipeline.user_stacks().caveats(),
                            of_.naming.caveats()}) {
    add_new(notes, all);
  }
  return all;
}

// Of reports that show moments: without them nobody misses the clock.
void CaveatWriter::note_clock(const Report& report, Caveats& known) const {
  const auto has_moments = [](const Table& table) {
    return !table.rows.empty() && !table.columns.empty() &&
           table.columns.front().unit == Unit::Moment;
  };
  if (report.clock.shown == ClockKind::Wall && report.clock.wall_start_ns == 0 &&
      (of_.options.view_options.wants_lines() || std::ranges::any_of(report.tables, has_moments))) {
    known.notes.emplace_back(
        "times are since the start: the recording does not say what time of day it was (perf "
        "record -k mono does; kernels before 4.1 cannot)");
  }
}

void CaveatWriter::note_empty(Report& report) const {
  const TaskFilter& tasks = of_.options.view_options.tasks;
  const ArrangeOptions& rows = of_.options.arrange;
  const bool filtered = !tasks.empty() || rows.min_count > 0 || !rows.exclude.empty();
  const bool empty = std::all_of(report.tables.begin(),
                                 report.tables.end(),
                                 [](const Table& table) { return table.rows.empty(); });
  if (filtered && empty) {
    report.caveats.notes.emplace_back(
        "nothing passed the filters (--comm, --pid, --uid, --cgroup, --min, --exclude)");
  }
}

// A lost allocation is a block too few, a lost free one too many.
void CaveatWriter::note_bounds(const Report& report, Caveats& caveats) {
  const std::uint64_t missing = caveats.missing();
  const auto count = std::find_if(report.totals.begin(),
                                  report.totals.end(),
                                  [](const Total& total) { return total.name == "count"; });
  if (missing == 0 || count == report.totals.end()) {
    return;
  }
  caveats.notes.push_back("with " + counted(missing, "event", "events") +
                          fmt::format(" missing, between {} and {} blocks are outstanding",
                                      count->value - std::min(count->value, missing),
                                      count->value + missing));
}

// Frees in the name of another task, and those after the last of the task's own events has been
// closed at its exit (kernel/exit.c: perf_event_exit_task), are not seen.
void CaveatWriter::note_partial(const ViewSpec& view, Caveats& caveats) const {
  if (is_heap_view(view)) {
    return;  // a process's heap is its own
  }
  const bool whole = of_.options.live ? of_.options.whole_machine : of_.about.whole_machine;
  if (!whole) {
    caveats.notes.emplace_back(
        "only events of some tasks were recorded: memory that other tasks freed for them, or "
        "that the kernel freed when they ended, seems to be live; record with -a to see these "
        "frees");
  }
}

void CaveatWriter::note_earlier_files(const ViewSpec& view, Caveats& caveats) const {
  if (of_.about.earlier_files == 0) {
    return;
  }
  const char* unknown = view.needs_live_blocks
                            ? "blocks that were allocated then are not known here, and their frees "
                              "are unmatched"
                            : "pages that were touched then are not known here, and count as "
                              "unexplained";
  caveats.notes.push_back("the recording began " +
                          counted(of_.about.earlier_files, "file", "files") +
                          " earlier: " + unknown + "; give all files with -i to see them");
}

// The frees of what the recording left out cannot be matched.
void CaveatWriter::note_unmatched(std::size_t view_index, Caveats& caveats) const {
  const std::vector<std::uint64_t>& frees = of_.unmatched.by_event();
  for (std::size_t event = 0; event < frees.size(); ++event) {
    caveats.unmatched += of_.dispatch.wants(view_index, event) ? frees[event] : 0;
  }
  const std::vector<std::string>& limited =
      of_.options.live ? of_.options.limited : of_.about.limited;
  const auto is_limited = [&](const EventType& type) {
    return of_.dispatch.wants(view_index, type.index) &&
           std::ranges::find(limited, type.name) != limited.end();
  };
  if (is_sampled(view_index)) {
    caveats.unmatched_why = "not sampled, or allocated before the recording";
  } else if (std::ranges::any_of(of_.pipeline.decoder().types(), is_limited)) {
    caveats.unmatched_why =
        "left out when they were allocated (--min-bytes, --max-bytes, --filter, --comm), or "
        "allocated before the recording";
  } else if (caveats.missing() > 0) {
    caveats.unmatched_why = "allocated before the recording, or while events were lost";
  }
}

// Recorded for other views, which need less of an event than this one.
void CaveatWriter::note_parts(const ViewSpec& view, Caveats& caveats) const {
  for (const EventType& type : of_.pipeline.decoder().types()) {
    const auto filter = of_.about.filters.find(type.name);
    if (filter != of_.about.filters.end() && handles(view, type) &&
        !covers(view, type.name, filter->second)) {
      caveats.notes.push_back("only " + type.name + " with " + filter->second +
                              " was recorded, for another view: more of them happened");
    }
  }
}

// Under overload memtrace drops only samples; a full ring loses records of mmap and munmap, too.
// Mappings are read again as soon as the loss is known; nothing reports that something was
// unmapped.
void CaveatWriter::note_lost_mappings(const ViewSpec& view, Caveats& caveats) const {
  if (!of_.losses.are_mappings_in_doubt() || !view.needs_memory_map) {
    return;
  }
  const bool read_again = of_.about.mapping_reads + of_.pipeline.recording().mapping_reads > 0;
  const std::string doubt = "a file or kind of memory may be that of an earlier mapping";
  caveats.notes.push_back(
      "records of mappings may be among the lost ones: " +
      (read_again ? "memtrace read the mappings again from /proc, but until then " + doubt
                  : "since then " + doubt + ", or not known"));
}

// --max-overhead opens each event with several periods, and may not use all of them.
bool CaveatWriter::was_used(std::size_t event) const {
  const auto& events = of_.pipeline.recording().events;
  const auto& counts = of_.dispatch.counts();
  const auto has_samples = [&counts](std::size_t i) {
    return i < counts.size() && counts[i].samples > 0;
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i != event && events[i].name == events[event].name && has_samples(i)) {
      return has_samples(event);
    }
  }
  return true;
}

bool CaveatWriter::is_sampled(std::size_t view_index) const {
  const auto& events = of_.pipeline.recording().events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_sampled = !events[i].is_tracking && !events[i].is_counted &&
                            !events[i].is_clock && events[i].period != 1;
    if (is_sampled && was_used(i) && of_.dispatch.wants(view_index, i)) {
      return true;
    }
  }
  return false;
}

}  // namespace memtrace
