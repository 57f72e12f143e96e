// What a session's reports say of their own truth: what is missing and what seems otherwise.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/text.h"
#include "base/units.h"
#include "plan/events/event_narrowing.h"
#include "session/session.h"

namespace memtrace {

namespace {

void add_loss(Caveats& losses, LossReason reason, std::uint64_t count) {
  switch (reason) {
    case LossReason::Kernel:
      losses.lost += count;
      break;
    case LossReason::Late:
      losses.late += count;
      break;
    case LossReason::Overload:
      losses.overload += count;
      break;
    case LossReason::Malformed:
      losses.malformed += count;
      break;
    case LossReason::DiskFull:
      losses.disk_full += count;
      break;
  }
}

}  // namespace

// For a live source, and for files whose records are all that is known of their losses.
Result<> Session::on_loss(const Record& record, const Lost& lost) {
  const std::uint64_t last_ns = record.stamp.time_ns;
  const TimeWindow& window = options_.window;
  if (options_.live && intervals_ > 0 && lost.first_ns != 0 && lost.first_ns < start_ns_) {
    loss_times_.before += lost.count;
    loss_times_.before_ns = std::max(loss_times_.before_ns, start_ns_ - lost.first_ns);
  }
  if (first_event_ns_ == 0 || window.start_ns == 0 || last_ns == 0) {
    add_loss(losses_, lost.reason, lost.count);
    return kDone;
  }
  attribute({.reason = lost.reason,
             .first_ns = lost.first_ns == 0 ? last_ns : lost.first_ns,
             .last_ns = last_ns,
             .count = lost.count},
            pipeline_.world().counted_from_ns(),
            std::numeric_limits<std::uint64_t>::max());
  return kDone;
}

// A file that lists its losses: with their reasons, and with the times that they may be of.
void Session::count_logged_losses(View::Span span) {
  if (options_.live || about_.losses.empty()) {
    return;
  }
  losses_ = {.cut = losses_.cut};
  const bool is_part = options_.interval_ns != 0;
  const bool has_end = options_.window.stop_ns != TimeWindow{}.stop_ns;
  const std::uint64_t last_ns = has_end ? first_event_ns_ + options_.window.stop_ns
                                        : std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t first_ns =
      options_.window.start_ns != 0 ? pipeline_.world().counted_from_ns() : 0;
  for (const LossEntry& loss : about_.losses) {
    attribute(loss, is_part ? span.start_ns : first_ns, is_part ? span.end_ns : last_ns);
  }
}

void Session::attribute(const LossEntry& loss, std::uint64_t first_ns, std::uint64_t last_ns) {
  if (loss.last_ns < first_ns || loss.first_ns > last_ns) {
    return;
  }
  if (loss.first_ns < first_ns || loss.last_ns > last_ns) {
    loss_times_.perhaps += loss.count;
  } else {
    add_loss(losses_, loss.reason, loss.count);
  }
}

std::uint64_t Session::started_ns() const {
  return options_.live ? source_.recording().started_ns : about_.started_ns;
}

std::uint64_t Session::stopped_ns() const {
  return options_.live ? source_.recording().stopped_ns : about_.stopped_ns;
}

void Session::note_empty(Report& report) const {
  const TaskFilter& tasks = options_.view_options.tasks;
  const ArrangeOptions& rows = options_.arrange;
  const bool filtered = !tasks.empty() || rows.min_count > 0 || !rows.exclude.empty();
  const bool empty = std::all_of(report.tables.begin(),
                                 report.tables.end(),
                                 [](const Table& table) { return table.rows.empty(); });
  if (filtered && empty) {
    report.caveats.notes.emplace_back(
        "nothing passed the filters (--comm, --pid, --uid, --cgroup, --min, --exclude)");
  }
}

void Session::note_losses(Caveats& caveats) const {
  if (loss_times_.perhaps > 0) {
    caveats.notes.push_back("up to " +
                            counted(loss_times_.perhaps,
                                    "more event may be missing: it was",
                                    "more events may be missing: they were") +
                            " lost in a period that this report covers only in part");
  }
  if (loss_times_.before > 0) {
    caveats.notes.push_back(
        format("%llu of the lost events may have been lost up to %s before this interval began: "
               "they are counted as lost here and not in the tables before",
               static_cast<unsigned long long>(loss_times_.before),
               print_duration(loss_times_.before_ns).c_str()));
  }
}

// Frees in the name of another task, and those after the last of the task's own events has been
// closed at its exit (kernel/exit.c: perf_event_exit_task), are not seen.
void Session::note_partial(const ViewSpec& view, Caveats& caveats) const {
  if (is_heap_view(view)) {
    return;  // a process's heap is its own
  }
  const RecordingFacts& about = about_;
  const bool whole = options_.live ? options_.whole_machine : about.whole_machine;
  if (!whole) {
    caveats.notes.emplace_back(
        "only events of some tasks were recorded: memory that other tasks freed for them, or "
        "that the kernel freed when they ended, seems to be live; record with -a to see these "
        "frees");
  }
}

void Session::note_identities(Caveats& caveats) const {
  const ViewOptions& view_options = options_.view_options;
  const auto note = [&caveats](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) {
      caveats.notes.push_back(counted(count, one, many));
    }
  };
  note(unknown_.by_name,
       "event of a task whose name is not known was left out by --comm",
       "events of tasks whose name is not known were left out by --comm");
  const std::uint64_t unknown =
      unknown_.users + unknown_.cgroups + unknown_.by_user + unknown_.by_cgroup;
  if (!view_options.asks_identity() || unknown == 0) {
    return;
  }
  if (!pipeline_.has_identities()) {
    caveats.notes.push_back(
        std::string(
            "the recording does not have the users and cgroups of processes, which memtrace "
            "record stores and perf record does not: all events are ") +
        (view_options.tasks.asks_identity() ? "left out by --uid and --cgroup"
                                            : "without an owner"));
    return;
  }
  note(unknown_.by_user,
       "event of a process whose user is not known was left out by --uid",
       "events of processes whose user is not known were left out by --uid");
  note(unknown_.by_cgroup,
       "event of a process whose cgroup is not known was left out by --cgroup",
       "events of processes whose cgroup is not known were left out by --cgroup");
  if (view_options.has_user_key()) {
    note(unknown_.users,
         "event is of a process whose user at that time is not known",
         "events are of processes whose user at that time is not known");
  }
  if (view_options.has_cgroup_key()) {
    note(unknown_.cgroups,
         "event is of a process whose cgroup at that time is not known",
         "events are of processes whose cgroup at that time is not known");
  }
}

// Recorded for other views, which need less of an event than this one.
void Session::note_parts(const ViewSpec& view, Caveats& caveats) const {
  const RecordingFacts& about = about_;
  for (const EventType& type : pipeline_.decoder().types()) {
    const auto filter = about.filters.find(type.name);
    if (filter != about.filters.end() && handles(view, type) &&
        !covers(view, type.name, filter->second)) {
      caveats.notes.push_back("only " + type.name + " with " + filter->second +
                              " was recorded, for another view: more of them happened");
    }
  }
}

// Under overload memtrace drops only samples; a full ring loses records of mmap and munmap, too.
// Mappings are read again as soon as the loss is known; nothing reports that something was
// unmapped.
void Session::note_lost_mappings(const ViewSpec& view, Caveats& caveats) {
  mappings_in_doubt_ =
      mappings_in_doubt_ || caveats.lost > 0 || caveats.late > 0 || caveats.malformed > 0;
  if (mappings_in_doubt_ && view.needs_memory_map) {
    const bool read_again = about_.mapping_reads + source_.recording().mapping_reads > 0;
    const std::string doubt = "a file or kind of memory may be that of an earlier mapping";
    caveats.notes.push_back(
        "records of mappings may be among the lost ones: " +
        (read_again ? "memtrace read the mappings again from /proc, but until then " + doubt
                    : "since then " + doubt + ", or not known"));
  }
}

// The frees of what the recording left out cannot be matched.
void Session::note_unmatched(std::size_t view_index, Caveats& caveats) const {
  for (std::size_t event = 0; event < unmatched_.size(); ++event) {
    caveats.unmatched += handlers_.wants(view_index, event) ? unmatched_[event] : 0;
  }
  const std::vector<std::string>& limited = options_.live ? options_.limited : about_.limited;
  const auto is_limited = [&](const EventType& type) {
    return handlers_.wants(view_index, type.index) &&
           std::ranges::find(limited, type.name) != limited.end();
  };
  if (view_is_sampled(view_index)) {
    caveats.unmatched_why = "not sampled, or allocated before the recording";
  } else if (std::ranges::any_of(pipeline_.decoder().types(), is_limited)) {
    caveats.unmatched_why =
        "left out when they were allocated (--min-bytes, --max-bytes, --filter), or allocated "
        "before the recording";
  } else if (caveats.missing() > 0) {
    caveats.unmatched_why = "allocated before the recording, or while events were lost";
  }
}

// A lost allocation is a block too few, a lost free one too many.
void Session::note_bounds(const Report& report, Caveats& caveats) const {
  const std::uint64_t missing = caveats.missing();
  const auto count = std::find_if(report.totals.begin(),
                                  report.totals.end(),
                                  [](const Total& total) { return total.name == "count"; });
  if (missing == 0 || count == report.totals.end()) {
    return;
  }
  caveats.notes.push_back(
      "with " + counted(missing, "event", "events") +
      format(" missing, between %llu and %llu blocks are outstanding",
             static_cast<unsigned long long>(count->value - std::min(count->value, missing)),
             static_cast<unsigned long long>(count->value + missing)));
}

bool Session::may_miss_events(const Report& report) const {
  return report.caveats.missing() > 0 || loss_times_.perhaps_ever ||
         !source_.recording().caveats.empty();
}

// The loss in the records, classified by what `record` wrote about itself.
Caveats Session::caveats() const {
  Caveats all = losses_;
  const RecordingFacts& about = about_;
  const auto move = [&all](std::uint64_t count, std::uint64_t Caveats::*to) {
    const std::uint64_t known = std::min(count, all.lost);
    all.lost -= known;
    all.*to += known;
  };
  if (about.losses.empty()) {
    move(about.late, &Caveats::late);
    move(about.overload, &Caveats::overload);
    move(about.malformed, &Caveats::malformed);
  }
  all.malformed += pipeline_.decoder().malformed();
  all.cut += about.cut_stacks;
  all.disk_full += about.disk_full;
  if (about.own_samples > 0) {
    all.notes.push_back(counted(about.own_samples,
                                "event of memtrace's own work was left out",
                                "events of memtrace's own work were left out"));
  }
  for (const auto& notes : {source_.recording().caveats,
                            about.notes,
                            pipeline_.decoder().caveats(),
                            pipeline_.taken_events().notes(),
                            pipeline_.user_stacks().caveats(),
                            naming_.caveats()}) {
    for (const std::string& note : notes) {
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) {
        all.notes.push_back(note);
      }
    }
  }
  return all;
}

}  // namespace memtrace
