#include "perf/file_in/record_sorter.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace {
namespace {

bool precedes(const RecordSorter::Entry& a, const RecordSorter::Entry& b) {
  return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.sequence < b.sequence;
}

bool is_newer(std::uint64_t time_ns, const RecordSorter::Entry& entry) {
  return time_ns < entry.time_ns;
}

}  // namespace

std::optional<std::uint64_t> RecordSorter::add(std::uint64_t time_ns,
                                               const std::byte* record,
                                               Late late) {
  if (time_ns == 0) {
    time_ns = std::max(added_time_ns_, given_time_ns_);
  }
  if (time_ns < given_time_ns_ && late == Late::Drop) {
    ++late_count_;
    return std::nullopt;
  }
  time_ns = std::max(time_ns, given_time_ns_);
  added_time_ns_ = time_ns;
  newest_time_ns_ = std::max(newest_time_ns_, time_ns);
  recent_run_ = run_for(time_ns);
  runs_[recent_run_].entries.push_back({time_ns, next_sequence_, record});
  return next_sequence_++;
}

// The run whose last time is the greatest that does not exceed time_ns: so the runs stay ordered by
// their last times, and as few as possible.
std::size_t RecordSorter::run_for(std::uint64_t time_ns) {
  const auto last_time = [this](std::size_t run) { return runs_[run].entries.back().time_ns; };
  if (recent_run_ < runs_.size() && last_time(recent_run_) <= time_ns &&
      (recent_run_ + 1 == runs_.size() || last_time(recent_run_ + 1) > time_ns)) {
    return recent_run_;
  }
  const auto after = std::partition_point(runs_.begin(), runs_.end(), [time_ns](const Run& run) {
    return run.entries.back().time_ns <= time_ns;
  });
  if (after != runs_.begin()) {
    return static_cast<std::size_t>(after - runs_.begin()) - 1;
  }
  runs_.emplace_front();
  return 0;
}

void RecordSorter::finish_round() {
  release(round_newest_ns_);
  round_newest_ns_ = newest_time_ns_;
}

void RecordSorter::finish() {
  release(std::numeric_limits<std::uint64_t>::max());
  round_newest_ns_ = newest_time_ns_;
}

void RecordSorter::release(std::uint64_t up_to_ns) {
  // What was released before and is not taken yet is older than all that follows: except in the
  // order of equal times, so it is merged as one more part.
  released_.erase(released_.begin(),
                  released_.begin() + static_cast<std::ptrdiff_t>(next_released_));
  next_released_ = 0;
  parts_.assign(1, 0);
  for (Run& run : runs_) {
    take_released(run, up_to_ns);
  }
  merge_released();
  std::erase_if(runs_, [](const Run& run) { return run.first == run.entries.size(); });
  recent_run_ = runs_.size();
}

void RecordSorter::take_released(Run& run, std::uint64_t up_to_ns) {
  const auto first = run.entries.begin() + static_cast<std::ptrdiff_t>(run.first);
  const auto end = std::upper_bound(first, run.entries.end(), up_to_ns, is_newer);
  if (first == end) {
    return;
  }
  if (released_.empty() && run.first == 0 && end == run.entries.end()) {
    released_.swap(run.entries);  // the whole of a sorted file: nothing is copied
    run.entries.clear();
    return;
  }
  parts_.push_back(released_.size());
  released_.insert(released_.end(), first, end);
  run.first = static_cast<std::size_t>(end - run.entries.begin());
  // Given-back room keeps a long run of many rounds from growing for ever.
  if (run.first * 2 > run.entries.size()) {
    run.entries.erase(run.entries.begin(),
                      run.entries.begin() + static_cast<std::ptrdiff_t>(run.first));
    run.first = 0;
  }
}

// Merges neighbouring parts until one is left.
void RecordSorter::merge_released() {
  const auto place = [this](std::size_t part) {
    return released_.begin() +
           static_cast<std::ptrdiff_t>(part < parts_.size() ? parts_[part] : released_.size());
  };
  while (parts_.size() > 1) {
    std::vector<std::size_t> merged;
    for (std::size_t part = 0; part < parts_.size(); part += 2) {
      std::inplace_merge(place(part), place(part + 1), place(part + 2), precedes);
      merged.push_back(parts_[part]);
    }
    parts_ = std::move(merged);
  }
}

std::optional<RecordSorter::Entry> RecordSorter::pop() {
  if (next_released_ == released_.size()) {
    return std::nullopt;
  }
  const Entry entry = released_[next_released_++];
  // Records in time order lie here and there in the file.
  __builtin_prefetch(released_[std::min(next_released_ + 3, released_.size() - 1)].record);
  given_time_ns_ = entry.time_ns;
  return entry;
}

}  // namespace memtrace
