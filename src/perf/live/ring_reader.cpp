#include "perf/live/ring_reader.h"

#include <linux/perf_event.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "os/catch_up.h"
#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/live/overload.h"

namespace memtrace {
namespace {

// The kernel gets room back in such pieces.
constexpr std::size_t kConsumeBytes = std::size_t{256} << 10U;
// Leaves room for the largest record.
constexpr std::size_t kFullEnoughBytes = Chunk::kBytes / 4 * 3;
// A record has its time before it has its place in the ring: an interrupt between the two puts
// younger records in front of it. So long it may take.
constexpr std::uint64_t kLongestInterruptNs = 20'000'000;
constexpr std::size_t kCacheLineBytes = 64;
// Header, fields, registers and the top of the stack.
constexpr std::size_t kPrefetchedBytes = 10 * kCacheLineBytes;

void prefetch(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kCacheLineBytes) {
    __builtin_prefetch(bytes.data() + at);
  }
}

std::size_t size_of(std::span<const std::byte> record) {
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof(header));
  return header.size;
}

}  // namespace

RingReader::RingReader(Source source, const SharedParser& parser, ChunkQueue& queue)
    : source_(std::move(source)),
      parser_(parser),
      queue_(queue),
      pace_(source_.is_prompt, source_.somebody_waits, source_.is_patient),
      thread_(start_guarded_thread([this] { run(); })) {}

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
  // A ring that holds 8 KiB for each malloc is full after 40 ms: too short to wait for compilers.
  hurry_this_thread();
  CatchUp catch_up;
  while (!stopping_.load(std::memory_order_acquire)) {
    const int patience_ms = pace_.milliseconds(queue_.is_busy(monotonic_ns()));
    pollfd wait{.fd = source_.fd, .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, patience_ms);
    if ((wait.revents & POLLHUP) != 0) {
      // The task of this descriptor is gone, and poll(2) returns at once from now on; its children
      // may still write into the ring.
      std::this_thread::sleep_for(std::chrono::milliseconds(std::min(patience_ms, 20)));
    }
    const std::uint64_t unread = source_.ring->unread_bytes();
    drain(catch_up);
    pace_.note(unread, monotonic_ns());
  }
  drain(catch_up);
  push();
}

void RingReader::drain(CatchUp& catch_up) {
  bool more = true;
  while (more) {
    catch_up.keep(source_.ring->unread_bytes() >= source_.ring->data_bytes() / 2);
    // In this order: what any ring had shown before we look is complete once we have looked. With
    // a clock that we can read ourselves, time goes on in silence too.
    if (source_.monotonic_clock) {
      queue_.note_newest(monotonic_ns());
    }
    const std::uint64_t complete_to = queue_.newest_ns();
    if (!chunk_) {
      chunk_ = queue_.take_empty();
      chunk_->stream = source_.stream;
      chunk_->complete_to_ns = 0;
    }
    more = fill(*chunk_);
    note_complete(more, complete_to);
    if (chunk_->used_bytes > 0) {
      queue_.note_filled(monotonic_ns());
    }
    if (may_push()) {
      push();
    }
  }
}

// The records of a ring that is never empty show how far it is complete. Otherwise the merge would
// stop while the kernel is faster than we are, learn no rules by which stacks become small, and so
// never let us catch up.
void RingReader::note_complete(bool more, std::uint64_t shown_before_ns) {
  std::uint64_t time_ns = shown_before_ns;
  if (more) {
    time_ns = newest_ns_ - std::min(newest_ns_, kLongestInterruptNs);
    if (time_ns <= complete_to_ns_) {
      return;  // the same time again would say that a second look found nothing newer
    }
  }
  chunk_->complete_to_ns = time_ns;
  complete_to_ns_ = std::max(complete_to_ns_, time_ns);
}

// A chunk takes all of its memory, however little is in it, and is counted by what is in it. When
// the merge is behind, most of what is drained may be given up at once: chunks of what is left
// would take all memory of the machine long before they seem to be many.
bool RingReader::may_push() const {
  return chunk_->used_bytes >= kFullEnoughBytes || queue_.taken_times() != pushed_when_taken_times_;
}

void RingReader::push() {
  if (chunk_) {
    pushed_when_taken_times_ = queue_.taken_times();
    queue_.push(std::move(chunk_));
  }
}

bool RingReader::fill(Chunk& chunk) {
  const std::span<std::byte> room = chunk.room();
  const std::uint64_t looked_at_ns = source_.monotonic_clock ? monotonic_ns() : 0;
  std::size_t unread = source_.ring->unread_bytes();
  const std::size_t used_before = chunk.used_bytes;
  std::size_t used = used_before;
  std::size_t at = 0;
  bool is_full = false;
  while (unread - at >= sizeof(perf_event_header)) {
    const std::size_t size_bytes = size_of(source_.ring->unread(at, sizeof(perf_event_header)));
    if (size_bytes < sizeof(perf_event_header) || size_bytes > unread - at) {
      break;
    }
    is_full = size_bytes > room.size() - used;
    if (is_full) {
      break;
    }
    prefetch(source_.ring->unread(at + size_bytes, kPrefetchedBytes));
    used += move_record(at, size_bytes, room.subspan(used));
    at += size_bytes;
    if (at >= kConsumeBytes) {
      source_.ring->consume(at);
      unread -= std::exchange(at, 0);
    }
  }
  source_.ring->consume(at);
  empty_at_ns_ = is_full ? empty_at_ns_ : looked_at_ns;
  chunk.used_bytes = used;
  queue_.note_newest(newest_ns_);
  if (const Overload level = queue_.overload(); level != Overload::None) {
    apply_overload(chunk, level, parser_.current(), used_before);
  }
  return is_full;
}

// Out of the ring into `target`, which has room for all of it: what it takes there.
std::size_t RingReader::move_record(std::size_t from,
                                    std::size_t size_bytes,
                                    std::span<std::byte> target) {
  const RecordParser& parser = parser_.current();  // asked anew: see SharedParser
  auto record = source_.ring->unread(from, size_bytes);
  const bool in_one_piece = record.size() == size_bytes;
  if (!in_one_piece) {
    source_.ring->copy_unread(from, target.first(size_bytes));
    record = target.first(size_bytes);
  }
  if (source_.mender != nullptr) {
    record = mended(record, parser);
  }
  std::size_t moved = 0;
  if (record.data() != target.data() && source_.shrink) {
    moved = source_.shrink(parser, record, target.first(record.size()));
  }
  if (moved == 0) {
    std::memmove(target.data(), record.data(), record.size());
    moved = record.size();
  }
  newest_ns_ = std::max(newest_ns_, parser.time_ns(target.first(moved)));
  return moved;
}

// As it is, or a copy: the ring's own memory is the kernel's.
std::span<const std::byte> RingReader::mended(std::span<const std::byte> record,
                                              const RecordParser& parser) {
  const bool is_wrong = source_.mender->is_wrong(record, parser);
  const bool is_early =
      !is_wrong && source_.monotonic_clock && source_.mender->is_early(record, parser, newest_ns_);
  if (!is_wrong && !is_early) {
    return record;
  }
  std::uint64_t now_ns = source_.monotonic_clock ? monotonic_ns() : 0;
  now_ns = stopped_ns_ == 0 ? now_ns : std::min(now_ns, stopped_ns_.load());
  mended_.resize(record.size() / sizeof(std::uint64_t));
  std::memcpy(mended_.data(), record.data(), mended_.size() * sizeof(std::uint64_t));
  const RecordMender::Written written{
      .lowest_ns = std::max({empty_at_ns_, newest_ns_, started_ns_.load()}),
      .highest_ns = now_ns,
      .cpu = source_.cpu};
  if (is_early) {
    source_.mender->mend_early(mended_, written);
    return std::as_bytes(std::span(mended_));
  }
  return std::as_bytes(std::span(mended_)).first(source_.mender->mend(mended_, written));
}

}  // namespace memtrace
