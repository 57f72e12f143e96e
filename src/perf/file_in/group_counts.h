// Counters in samples: perf record's groups with :S, where only the leader is sampled and its
// samples say how far the counters of all have come (PERF_SAMPLE_READ).
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "perf/record/record.h"
#include "perf/record/record_parser.h"

namespace memtrace {

class GroupCounts {
 public:
  // In the order of Recording::events.
  void add_event(const perf_event_attr& attr);

  // The file says that the counter with this id counts all tasks of a CPU.
  void note_all_tasks(std::uint64_t id) { of_all_tasks_.insert(id); }

  // Whether there is any such event.
  bool any() const { return any_; }

  // Whether samples of this event have counters.
  bool tells(std::uint32_t event) const {
    return event < layouts_.size() && layouts_[event].first_word != 0;
  }

  struct Hits {
    std::uint32_t event = 0;
    std::uint64_t count = 0;
  };

  // The hits of all events since the last sample with counters, in their order in the sample.
  // `record` is the sample's bytes. Valid until the next call.
  const std::vector<Hits>& take(const Sample& sample,
                                std::span<const std::byte> record,
                                const RecordParser& parser);

 private:
  struct Layout {
    std::uint64_t read_format = 0;
    std::size_t first_word = 0;  // of what was read; 0: there is nothing
    bool per_thread = false;
  };

  struct Read {
    std::uint64_t value = 0;
    std::uint32_t tid = 0;  // of the sample
  };

  bool is_threads_own(std::uint64_t id, const Layout& layout) const;
  std::uint64_t advance(std::uint64_t id, const Layout& layout, const Read& read);

  std::vector<Layout> layouts_;
  std::set<std::uint64_t> of_all_tasks_;                                     // ids
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> values_;  // by id and thread
  std::vector<Hits> hits_;
  bool any_ = false;
};

// An event of a group whose hits are known only from the leader's samples.
bool is_counted_by_leader(const perf_event_attr& attr);

}  // namespace memtrace
