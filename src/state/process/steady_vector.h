// A vector that only grows, and whose entries never move. One thread at a time may add to it. All
// threads may read the entries that they know of without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

namespace memtrace {

template <typename Entry>
class SteadyVector {
 public:
  SteadyVector() = default;
  SteadyVector(const SteadyVector&) = delete;
  SteadyVector& operator=(const SteadyVector&) = delete;
  SteadyVector(SteadyVector&&) = delete;
  SteadyVector& operator=(SteadyVector&&) = delete;

  ~SteadyVector() {
    for (std::size_t i = 0; i < size(); ++i) {
      std::destroy_at(&(*this)[i]);
    }
    for (std::size_t i = 0; i < chunks_.size() && chunks_[i] != nullptr; ++i) {
      std::allocator<Entry>().deallocate(chunks_[i], capacity_of(i));
    }
  }

  // Entries below are whole, whichever thread added them.
  std::size_t size() const { return size_.load(std::memory_order_acquire); }

  const Entry& operator[](std::size_t index) const { return *place_of(index); }

  void push_back(Entry entry) {
    const std::size_t index = size_.load(std::memory_order_relaxed);
    const std::size_t chunk = chunk_of(index);
    if (chunks_[chunk] == nullptr) {
      chunks_[chunk] = std::allocator<Entry>().allocate(capacity_of(chunk));
    }
    std::construct_at(place_of(index), std::move(entry));
    size_.store(index + 1, std::memory_order_release);
  }

 private:
  // Each chunk is as large as all before it. Memory that no entry has touched is not resident.
  static constexpr std::size_t kFirstEntries = 1024;
  static constexpr std::size_t kChunks = 32;

  static std::size_t chunk_of(std::size_t index) {
    return static_cast<std::size_t>(std::bit_width(index / kFirstEntries));
  }

  static std::size_t start_of(std::size_t chunk) {
    return chunk == 0 ? 0 : kFirstEntries << (chunk - 1);
  }

  static std::size_t capacity_of(std::size_t chunk) {
    return chunk == 0 ? kFirstEntries : kFirstEntries << (chunk - 1);
  }

  Entry* place_of(std::size_t index) const {
    const std::size_t chunk = chunk_of(index);
    return chunks_[chunk] + (index - start_of(chunk));
  }

  std::array<Entry*, kChunks> chunks_{};
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace memtrace
