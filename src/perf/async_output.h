// Bytes to a descriptor by a thread of its own, so that whoever drains the kernel's rings does not
// wait for the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace memtrace {

// append() copies into a block of 1 MiB; full blocks go into a queue that the thread writes out.
// append() waits only while kQueueBlocks blocks are under way. Records never straddle two blocks
// as long as each is appended by one call, so every block begins with a whole record.
class AsyncOutput {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  static constexpr std::size_t kQueueBlocks = 32;

  explicit AsyncOutput(UniqueFd fd);
  AsyncOutput(const AsyncOutput&) = delete;
  AsyncOutput& operator=(const AsyncOutput&) = delete;
  ~AsyncOutput();

  void append(std::span<const std::byte> bytes);

  // Hands what has been appended to the thread.
  void flush();

  // Flushes and waits until all is written or has failed.
  void drain();

  // The errno that writing failed with, 0 when it did not. After a failure all is dropped.
  int failure() const { return failure_; }

  // Forgets a failure, after room has been made: drain() first.
  void clear_failure() { failure_ = 0; }

  // Bytes that reached the descriptor.
  std::uint64_t written_bytes() const { return written_bytes_; }

  // Bytes appended so far.
  std::uint64_t appended_bytes() const { return appended_bytes_; }

  // A new block begins with the next byte.
  bool at_block_start() const { return block_.empty(); }

  // Whether that many bytes more would begin a new block.
  bool begins_block(std::size_t size_bytes) const {
    return block_.empty() || block_.size() + size_bytes > kBlockBytes;
  }

  int fd() const { return fd_.get(); }

 private:
  using Block = std::vector<std::byte>;

  void run();
  void write_block(const Block& block);

  UniqueFd fd_;
  Block block_;  // being filled; the thread does not see it
  std::uint64_t appended_bytes_ = 0;

  // Written by the thread.
  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::atomic<int> failure_ = 0;

  std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable room_;
  std::deque<Block> queue_;
  std::vector<Block> spare_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace memtrace
