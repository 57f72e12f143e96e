// The thread that empties one ring into chunks. It parses nothing but sizes and times, so that a
// burst is copied out of the ring as fast as memory allows.
#pragma once

#include <atomic>
#include <thread>

#include "perf/chunk_queue.h"
#include "perf/ring_buffer.h"
#include "perf/sample_layout.h"

namespace memtrace {

class RingReader {
 public:
  struct Source {
    RingBuffer* ring = nullptr;
    int fd = -1;  // wakes poll(2) at the watermark
    std::uint32_t stream = 0;
    bool monotonic_clock = false;  // records are stamped with CLOCK_MONOTONIC
  };

  // `parser` and `queue` outlive the reader.
  RingReader(Source source, const RecordParser& parser, ChunkQueue& queue);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;
  ~RingReader();

  // Drains once more, which gets everything that was written before the call, and ends the thread.
  void stop();

 private:
  void run();
  void drain();
  // True when the chunk was filled to the brim: there is more.
  bool fill(Chunk& chunk);

  Source source_;
  const RecordParser& parser_;
  ChunkQueue& queue_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace memtrace
