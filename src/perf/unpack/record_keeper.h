// Keeps the memory of records that lie in no mapping (a pipe's, or decompressed ones) until the
// last record in it has gone out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

namespace memtrace {

// Memory for records: 8-byte aligned, shared by the records in it and the writer.
// NOLINTNEXTLINE(modernize-avoid-c-arrays): its size is known when the program runs.
using RecordMemory = std::shared_ptr<std::uint64_t[]>;

struct RecordBlock {
  RecordMemory words;
  std::size_t size_bytes = 0;

  static RecordBlock of(std::size_t size_bytes) {
    const std::size_t words = size_bytes / sizeof(std::uint64_t) + 1;
    return {RecordMemory(new std::uint64_t[words]), size_bytes};
  }

  std::span<std::byte> bytes() const {
    return {reinterpret_cast<std::byte*>(words.get()), size_bytes};
  }
};

// Copies of records that lie misaligned: perf's COMPRESSED and HEADER_FEATURE records are of any
// size, and what follows them lies askew.
class RecordCopies {
 public:
  std::span<const std::byte> copy(std::span<const std::byte> record) {
    constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
    constexpr std::size_t kAlignment = sizeof(std::uint64_t);
    if (block_.size_bytes - used_bytes_ < record.size()) {
      block_ = RecordBlock::of(kBlockBytes);
      used_bytes_ = 0;
    }
    const auto place = block_.bytes().subspan(used_bytes_, record.size());
    std::copy(record.begin(), record.end(), place.begin());
    const std::size_t end_bytes = used_bytes_ + record.size();
    used_bytes_ = std::min((end_bytes + kAlignment - 1) & ~(kAlignment - 1), block_.size_bytes);
    return place;
  }

  // What the last copy lies in.
  const RecordMemory& memory() const { return block_.words; }

 private:
  RecordBlock block_;
  std::size_t used_bytes_ = 0;
};

class RecordKeeper {
 public:
  using Memory = RecordMemory;

  // `sequence` ascends from call to call. Null memory: the record needs none.
  void keep(std::uint64_t sequence, const Memory& memory) {
    if (memory == nullptr && stretches_.empty()) {
      return;
    }
    if (stretches_.empty() || stretches_.back().memory != memory) {
      stretches_.push_back({sequence, 0, memory});
    }
    ++stretches_.back().count;
  }

  void release(std::uint64_t sequence) {
    if (stretches_.empty()) {
      return;
    }
    const auto after = std::upper_bound(
        stretches_.begin(), stretches_.end(), sequence, [](std::uint64_t value, const Stretch& s) {
          return value < s.first_sequence;
        });
    if (after == stretches_.begin()) {
      return;
    }
    --std::prev(after)->count;
    while (!stretches_.empty() && stretches_.front().count == 0) {
      stretches_.pop_front();
    }
  }

  // Blocks that are still held, for tests.
  std::size_t stretch_count() const { return stretches_.size(); }

 private:
  // Consecutive records in one piece of memory.
  struct Stretch {
    std::uint64_t first_sequence = 0;
    std::uint64_t count = 0;  // of records that have not gone out
    Memory memory;
  };

  std::deque<Stretch> stretches_;
};

}  // namespace memtrace
