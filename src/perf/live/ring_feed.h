// The rings of a set of events, from the threads that empty them to one stream in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "os/catch_up.h"
#include "perf/event/event_set.h"
#include "perf/live/chunk_queue.h"
#include "perf/live/record_mender.h"
#include "perf/live/ring_merge.h"
#include "perf/live/ring_reader.h"
#include "perf/record/shared_parser.h"

namespace memtrace {

class RingFeed {
 public:
  struct Setup {
    bool is_prompt = false;                       // records come within milliseconds
    bool somebody_waits = false;                  // within 200 ms
    bool is_patient = false;                      // nobody waits
    std::function<SampleRewrite()> make_rewrite;  // one for each ring; may be empty
    std::size_t queue_bytes = 0;                  // what may wait; 0: queue_limit_bytes()
  };

  // `events` outlives the feed.
  RingFeed(EventSet& events, Setup setup);

  void start();

  // Takes the memory of the rings and of the queue now, before it is needed.
  void take_memory();

  // When all events had been enabled, and when they were disabled; 0: not known by the records'
  // clock.
  void note_start(std::uint64_t started_ns);
  void note_stop(std::uint64_t stopped_ns);

  // Waits a moment for what the threads have read, and sorts what may be given out.
  void collect();

  // By the thread that takes records, often.
  void keep_up() {
    constexpr std::uint64_t kRecords = 256;
    if (++taken_ % kRecords == 0) {
      catch_up_.keep(queue_.is_behind());
    }
  }

  // Who has taken records out of here should not do anything else for long.
  bool is_filling() const { return queue_.is_filling(); }

  // What the rings hold by now still comes, and nothing after it.
  void drain();

  bool is_drained() const { return drained_; }

  // Ends the threads; what they had read is lost.
  void abandon() { readers_.clear(); }

  RingMerge& merge() { return merge_; }

  SharedParser& parser() { return parser_; }

 private:
  EventSet& events_;
  Setup setup_;
  SharedParser parser_;
  RecordMender mender_;
  ChunkQueue queue_;
  RingMerge merge_;
  std::vector<std::unique_ptr<RingReader>> readers_;  // after what they use: destroyed first
  CatchUp catch_up_;
  std::uint64_t taken_ = 0;  // records
  bool drained_ = false;     // readers have ended, the merge has everything
};

}  // namespace memtrace
