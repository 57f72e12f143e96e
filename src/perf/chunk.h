// A run of whole records as it was drained from one ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace memtrace {

struct Chunk {
  std::vector<std::uint64_t> words;  // words and not bytes: records are 8-byte aligned
  std::size_t used_bytes = 0;
  std::uint32_t stream = 0;  // which ring
  // Every record of this ring up to this time is in this chunk or an earlier one: the newest time
  // that any ring had shown before this one was looked at.
  std::uint64_t complete_to_ns = 0;
  std::uint64_t dropped_samples = 0;  // given up for lack of memory
  std::uint64_t cut_stacks = 0;       // stacks shortened for lack of memory
  std::size_t unread_records = 0;     // of the merge: when 0, the chunk can be used again

  std::span<std::byte> room() { return std::as_writable_bytes(std::span(words)); }

  std::span<std::byte> bytes() { return room().first(used_bytes); }
};

using ChunkPtr = std::unique_ptr<Chunk>;

}  // namespace memtrace
