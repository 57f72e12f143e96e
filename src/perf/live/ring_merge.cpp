#include "perf/live/ring_merge.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace memtrace {

namespace {

// A backlog makes these lists large. Their memory is freed when the backlog is gone.
void trim(std::vector<RingMerge::Entry>& entries) {
  constexpr std::size_t kSpare = std::size_t{1} << 18U;
  if (entries.capacity() > kSpare && entries.capacity() / 4 > entries.size()) {
    entries.shrink_to_fit();
  }
}

}  // namespace

RingMerge::RingMerge(std::size_t ring_count, const SharedParser& parser, ChunkQueue& queue)
    : parser_(parser), queue_(queue), marks_(ring_count) {}

void RingMerge::add(ChunkPtr chunk) {
  losses_.dropped.insert(losses_.dropped.end(), chunk->dropped.begin(), chunk->dropped.end());
  chunk->dropped.clear();
  losses_.cut += std::exchange(chunk->cut_stacks, 0);
  if (Mark& mark = marks_[chunk->stream]; chunk->complete_to_ns > mark.newest_ns) {
    mark = {chunk->complete_to_ns, mark.newest_ns};
  } else if (chunk->complete_to_ns != 0) {
    mark.before_ns = mark.newest_ns;  // looked at again and nothing newer anywhere
  }
  index(*chunk);
  if (chunk->unread_records == 0) {
    queue_.recycle(std::move(chunk));
  } else {
    chunks_.push_back(std::move(chunk));
  }
}

void RingMerge::index(Chunk& chunk) {
  const auto bytes = chunk.bytes();
  const RecordParser& parser = parser_.current();
  chunk.unread_records = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    perf_event_header header{};
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    const std::uint64_t time_ns = parser.time_ns(bytes.subspan(at, header.size));
    // A late mapping, name or loss is still true, and of use to what comes after it.
    if (time_ns < complete_to_ns_ && header.type == PERF_RECORD_SAMPLE) {
      add_loss(losses_.late, time_ns);
    } else {
      pending_.push_back(
          {time_ns, sequence_++, &chunk, static_cast<std::uint32_t>(at), header.size});
      ++chunk.unread_records;
    }
    at += header.size;
  }
}

void RingMerge::release(bool all) {
  std::uint64_t limit_ns = all ? ~std::uint64_t{0} : marks_.front().before_ns;
  for (const Mark& mark : marks_) {
    limit_ns = all ? limit_ns : std::min(limit_ns, mark.before_ns);
  }
  const auto may_go = [limit_ns](const Entry& entry) { return entry.time_ns <= limit_ns; };
  const auto first_later = std::partition(pending_.begin(), pending_.end(), may_go);
  ready_.assign(pending_.begin(), first_later);
  pending_.erase(pending_.begin(), first_later);
  trim(ready_);
  trim(pending_);
  ready_position_ = 0;
  std::sort(ready_.begin(), ready_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time_ns, a.chunk->stream, a.sequence) <
           std::tie(b.time_ns, b.chunk->stream, b.sequence);
  });
  if (!all) {
    complete_to_ns_ = std::max(complete_to_ns_, limit_ns);
  }
}

std::optional<RingMerge::Entry> RingMerge::next() {
  finish(std::exchange(last_given_, nullptr));
  if (ready_position_ == ready_.size()) {
    return std::nullopt;
  }
  const Entry entry = ready_[ready_position_++];
  last_given_ = entry.chunk;
  return entry;
}

void RingMerge::finish(Chunk* chunk) {
  if (chunk == nullptr || --chunk->unread_records > 0) {
    return;
  }
  const auto is_finished = [chunk](const ChunkPtr& owner) { return owner.get() == chunk; };
  const auto owner = std::find_if(chunks_.begin(), chunks_.end(), is_finished);
  queue_.recycle(std::move(*owner));
  chunks_.erase(owner);
}

RingMerge::Losses RingMerge::take_losses() {
  return std::exchange(losses_, {});
}

}  // namespace memtrace
