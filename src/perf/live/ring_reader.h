// The thread that empties one ring into chunks. Records are copied as they are, but a sample whose
// copied stack can be unwound at once goes without it: of 8 KiB that lie in the ring a few cache
// lines are read then, and nothing is copied.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "os/catch_up.h"
#include "perf/event/reading_pace.h"
#include "perf/event/ring_buffer.h"
#include "perf/live/chunk_queue.h"
#include "perf/live/record_mender.h"
#include "perf/record/shared_parser.h"

namespace memtrace {

// Writes a sample as a shorter record into `target`, which has room for the original: the bytes
// written, or 0 when it must stay as it is. Called by one thread; `record` is in the ring.
using SampleRewrite = std::function<std::size_t(
    const RecordParser& parser, std::span<const std::byte> record, std::span<std::byte> target)>;

class RingReader {
 public:
  struct Source {
    RingBuffer* ring = nullptr;
    int fd = -1;  // wakes poll(2) at the watermark
    std::uint32_t stream = 0;
    std::uint32_t cpu = 0;
    bool monotonic_clock = false;  // records are stamped with CLOCK_MONOTONIC
    bool is_prompt = false;        // records are to be seen within milliseconds, at any time
    bool somebody_waits = false;   // the same, but 200 ms will do
    bool is_patient = false;       // nobody waits: a full ring alone is a reason to look
    SampleRewrite shrink;          // may be empty
    const RecordMender* mender = nullptr;  // may be null
  };

  // `parser` and `queue` outlive the reader.
  RingReader(Source source, const SharedParser& parser, ChunkQueue& queue);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;
  RingReader(RingReader&&) = delete;
  RingReader& operator=(RingReader&&) = delete;
  ~RingReader();

  // When all events had been enabled, and when they were disabled: what has a wrong time was
  // written between.
  void note_start(std::uint64_t started_ns) { started_ns_ = started_ns; }

  void note_stop(std::uint64_t stopped_ns) { stopped_ns_ = stopped_ns; }

  // Drains once more, which gets everything that was written before the call, and ends the thread.
  void stop();

 private:
  void run();
  void drain(CatchUp& catch_up);
  void note_complete(bool more, std::uint64_t shown_before_ns);
  bool may_push() const;
  void push();
  // Adds to what the chunk holds. True when it was filled to the brim: there is more.
  bool fill(Chunk& chunk);
  std::size_t move_record(std::size_t from, std::size_t size_bytes, std::span<std::byte> target);
  std::span<const std::byte> mended(std::span<const std::byte> record, const RecordParser& parser);

  Source source_;
  const SharedParser& parser_;
  ChunkQueue& queue_;
  ReadingPace pace_;
  ChunkPtr chunk_;  // being filled
  std::uint64_t pushed_when_taken_times_ = ~std::uint64_t{0};
  std::uint64_t newest_ns_ = 0;
  std::uint64_t complete_to_ns_ = 0;  // as reported with any chunk
  std::atomic<std::uint64_t> started_ns_ = 0;
  std::atomic<std::uint64_t> stopped_ns_ = 0;  // 0: they are not
  std::uint64_t empty_at_ns_ = 0;              // what is in the ring was written after that
  std::vector<std::uint64_t> mended_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace memtrace
