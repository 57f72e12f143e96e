// Writes bytes to a descriptor in a thread of its own, so that the thread that drains the kernel's
// rings does not wait for the disk.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {

// Whether this errno means that there is no more room.
inline bool is_disk_full(int errno_value) {
  return errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
}

// append() copies into a block of 1 MiB; full blocks go into a queue that the thread writes out.
// append() waits only while kQueueBlocks blocks are under way. Records never straddle two blocks
// as long as each is appended by one call, so every block begins with a whole record.
//
// A pipe whose reader has stopped may move again or not. A user who wants to stop sends a signal:
// then waiting ends when nothing moves for a moment, a shorter one after a second signal.
class AsyncOutput {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  static constexpr std::size_t kQueueBlocks = 32;
  static constexpr std::chrono::milliseconds kPatience{1000};
  static constexpr std::chrono::milliseconds kLittlePatience{200};

  // `stop_signals` outlives the output; without them it waits for ever.
  explicit AsyncOutput(UniqueFd fd, StopSignals* stop_signals = nullptr);
  AsyncOutput(const AsyncOutput&) = delete;
  AsyncOutput& operator=(const AsyncOutput&) = delete;
  AsyncOutput(AsyncOutput&&) = delete;
  AsyncOutput& operator=(AsyncOutput&&) = delete;
  ~AsyncOutput();

  void append(std::span<const std::byte> bytes);

  // Hands what has been appended to the thread.
  void flush();

  // Flushes and waits until all is written, has failed or was given up.
  void drain();

  // The errno that writing failed with, 0 when it did not. After a failure all is dropped.
  // ETIMEDOUT when waiting was given up.
  int failure() const { return shared_->failure; }

  // Forgets a failure, after room has been made: drain() first.
  void clear_failure() { shared_->failure = 0; }

  // Bytes that reached the descriptor.
  std::uint64_t written_bytes() const { return shared_->written_bytes; }

  // Bytes appended so far.
  std::uint64_t appended_bytes() const { return appended_bytes_; }

  // A new block begins with the next byte.
  bool at_block_start() const { return block_.empty(); }

  // Whether that many bytes more would begin a new block.
  bool begins_block(std::size_t size_bytes) const {
    return block_.empty() || block_.size() + size_bytes > kBlockBytes;
  }

  int fd() const { return shared_->fd.get(); }

 private:
  using Block = std::vector<std::byte>;

  // What the thread sees. It owns a share of it, as it may hang in write(2) beyond our life.
  struct Shared {
    UniqueFd fd;

    // Written by the thread.
    std::atomic<std::uint64_t> written_bytes = 0;
    std::atomic<int> failure = 0;

    std::mutex mutex;  // guards all below
    std::condition_variable work;
    std::condition_variable room;
    std::deque<Block> queue;
    std::vector<Block> spare;
    bool busy = false;
    bool stopping = false;

    void run();
    void write_block(const Block& block);
  };

  template <typename Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, Condition condition);
  bool is_out_of_patience(std::chrono::steady_clock::time_point moved_at);

  std::shared_ptr<Shared> shared_;
  StopSignals* stop_signals_;
  Block block_;  // being filled; the thread does not see it
  std::uint64_t appended_bytes_ = 0;
  bool given_up_ = false;
  std::thread thread_;
};

}  // namespace memtrace
