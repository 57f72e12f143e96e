#include "perf/ring_reader.h"

#include <linux/perf_event.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

#include "base/system.h"
#include "perf/shed.h"

namespace memtrace {
namespace {

// The kernel wakes us at a quarter of the ring; in a quiet time this bounds how old a record can
// get before it is seen, and how long other rings' records must wait for this one.
constexpr int kIdleMilliseconds = 100;

// Whole records at the start of `bytes`.
std::size_t whole_records(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (bytes.size() - at >= sizeof(perf_event_header)) {
    perf_event_header header{};
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.size < sizeof(header) || header.size > bytes.size() - at) {
      break;
    }
    at += header.size;
  }
  return at;
}

std::uint64_t newest_time_ns(std::span<const std::byte> bytes, const RecordParser& parser) {
  std::uint64_t newest = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    perf_event_header header{};
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    newest = std::max(newest, parser.time_ns(bytes.subspan(at, header.size)));
    at += header.size;
  }
  return newest;
}

}  // namespace

RingReader::RingReader(Source source, const RecordParser& parser, ChunkQueue& queue)
    : source_(source), parser_(parser), queue_(queue), thread_([this] { run(); }) {}

RingReader::~RingReader() {
  stop();
}

void RingReader::stop() {
  stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void RingReader::run() {
  while (!stopping_.load(std::memory_order_acquire)) {
    pollfd wait{.fd = source_.fd, .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, kIdleMilliseconds);
    if ((wait.revents & POLLHUP) != 0) {
      // The task of this descriptor is gone, and poll(2) returns at once from now on; its children
      // may still write into the ring.
      std::this_thread::sleep_for(std::chrono::milliseconds(kIdleMilliseconds / 5));
    }
    drain();
  }
  drain();
}

void RingReader::drain() {
  bool more = true;
  while (more) {
    // In this order: what any ring had shown before we look is complete once we have looked. With
    // a clock that we can read ourselves, time goes on in silence too.
    if (source_.monotonic_clock) {
      queue_.note_newest(monotonic_ns());
    }
    const std::uint64_t complete_to = queue_.newest_ns();
    ChunkPtr chunk = queue_.take_empty();
    more = fill(*chunk);
    chunk->stream = source_.stream;
    // A chunk that was filled to the brim leaves records of any age behind.
    chunk->complete_to_ns = more ? 0 : complete_to;
    queue_.push(std::move(chunk));
  }
}

bool RingReader::fill(Chunk& chunk) {
  const std::size_t copied = source_.ring->copy_unread(chunk.room());
  chunk.used_bytes = whole_records(chunk.room().first(copied));
  source_.ring->consume(chunk.used_bytes);
  queue_.note_newest(newest_time_ns(chunk.bytes(), parser_));
  if (const Overload level = queue_.overload(); level != Overload::None) {
    shed(chunk, level, parser_);
  }
  // Records of up to 64 KiB can be cut off at the end of a full chunk.
  return copied == chunk.room().size() && chunk.used_bytes > 0;
}

}  // namespace memtrace
