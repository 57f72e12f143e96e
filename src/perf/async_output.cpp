#include "perf/async_output.h"

#include <cerrno>
#include <csignal>
#include <utility>

namespace memtrace {

// Signals go to the other threads: SIGXFSZ and SIGPIPE would kill the process where EFBIG and EPIPE
// say the same, and Ctrl-C is for the thread that waits for it. A thread inherits the mask.
AsyncOutput::AsyncOutput(UniqueFd fd) : fd_(std::move(fd)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  block_.reserve(kBlockBytes);
}

AsyncOutput::~AsyncOutput() {
  flush();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void AsyncOutput::append(std::span<const std::byte> bytes) {
  if (begins_block(bytes.size())) {
    flush();
  }
  block_.insert(block_.end(), bytes.begin(), bytes.end());
  appended_bytes_ += bytes.size();
}

void AsyncOutput::flush() {
  if (block_.empty()) {
    return;
  }
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return queue_.size() < kQueueBlocks; });
  queue_.push_back(std::move(block_));
  block_ = Block();
  if (!spare_.empty()) {
    block_ = std::move(spare_.back());
    spare_.pop_back();
  }
  lock.unlock();
  work_.notify_one();
  block_.clear();
  block_.reserve(kBlockBytes);
}

void AsyncOutput::drain() {
  flush();
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void AsyncOutput::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) {
      return;
    }
    Block block = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    if (failure_ == 0) {
      write_block(block);
    }
    lock.lock();
    busy_ = false;
    if (spare_.size() < 4) {
      spare_.push_back(std::move(block));
    }
    room_.notify_all();
  }
}

// Without the lock: the disk may take its time.
void AsyncOutput::write_block(const Block& block) {
  std::size_t done_bytes = 0;
  int failure = 0;
  while (done_bytes < block.size() && failure == 0) {
    const ssize_t count = ::write(fd_.get(), block.data() + done_bytes, block.size() - done_bytes);
    if (count >= 0) {
      done_bytes += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  written_bytes_ += done_bytes;
  failure_ = failure;
}

}  // namespace memtrace
