#include "perf/live/ring_feed.h"

#include <algorithm>
#include <chrono>

#include "os/system.h"
#include "perf/event/ring_size.h"

namespace memtrace {
namespace {

constexpr std::chrono::milliseconds kWait{20};
constexpr std::size_t kSpareChunks = 4;

}  // namespace

RingFeed::RingFeed(EventSet& events, Setup setup)
    : events_(events),
      setup_(std::move(setup)),
      mender_(events.events()),
      queue_(setup_.queue_bytes != 0 ? setup_.queue_bytes : queue_limit_bytes()),
      merge_(events.rings().size(), parser_, queue_) {
  RecordParser parser;
  add_to_parser(events.events(), parser);
  parser_.publish(std::move(parser));
}

// A reader hands its chunk over whenever the merge asks, however little is in it, and the merge
// keeps it until all rings have shown that its time is over: there are many chunks.
void RingFeed::take_memory() {
  const std::size_t limit_bytes =
      setup_.queue_bytes != 0 ? setup_.queue_bytes : queue_limit_bytes();
  const std::size_t count =
      std::max(2 * limit_bytes / Chunk::kBytes, 4 * events_.rings().size() + kSpareChunks);
  queue_.reserve(count, std::min(Chunk::kBytes, limit_bytes / count));
  for (const RingBuffer& ring : events_.rings()) {
    ring.touch();
  }
}

void RingFeed::start() {
  for (std::size_t i = 0; i < events_.rings().size(); ++i) {
    RingReader::Source source{&events_.rings()[i], events_.ring_fds()[i]};
    source.stream = static_cast<std::uint32_t>(i);
    source.cpu = static_cast<std::uint32_t>(events_.ring_cpus()[i]);
    source.monotonic_clock = events_.features().clock_id;
    source.is_prompt = setup_.is_prompt;
    source.somebody_waits = setup_.somebody_waits;
    source.is_patient = setup_.is_patient;
    source.mender = &mender_;
    source.shrink = setup_.make_rewrite ? setup_.make_rewrite() : nullptr;
    readers_.push_back(std::make_unique<RingReader>(std::move(source), parser_, queue_));
  }
}

void RingFeed::note_start(std::uint64_t started_ns) {
  for (const auto& reader : readers_) {
    reader->note_start(started_ns);
  }
}

void RingFeed::note_stop(std::uint64_t stopped_ns) {
  for (const auto& reader : readers_) {
    reader->note_stop(stopped_ns);
  }
}

void RingFeed::collect() {
  for (ChunkPtr& chunk : queue_.take_all(drained_ ? std::chrono::milliseconds(0) : kWait)) {
    merge_.add(std::move(chunk));
  }
  merge_.release(drained_);
  queue_.free_idle(monotonic_ns());
}

void RingFeed::drain() {
  for (const auto& reader : readers_) {
    reader->stop();
  }
  drained_ = true;
}

}  // namespace memtrace
