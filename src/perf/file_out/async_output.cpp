#include "perf/file_out/async_output.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "os/this_thread.h"

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;

// How often who waits looks for signals.
constexpr std::chrono::milliseconds kLook{50};
// As much as a pipe holds by default: it is seen to move when that much was taken out of it.
constexpr std::size_t kWriteBytes = std::size_t{64} << 10;
constexpr std::size_t kSpareBlocks = 4;

}  // namespace

// The thread has no signals: SIGXFSZ and SIGPIPE would kill the process where EFBIG and EPIPE say
// the same.
AsyncOutput::AsyncOutput(UniqueFd fd, StopSignals* stop_signals)
    : shared_(std::make_shared<Shared>()), stop_signals_(stop_signals) {
  shared_->fd = std::move(fd);
  shared_->spare.reserve(kSpareBlocks);  // the thread takes no memory
  {
    const BlockedSignals blocked;
    thread_ = std::thread([shared = shared_] { shared->run(); });
  }
  block_.reserve(kBlockBytes);
}

AsyncOutput::~AsyncOutput() {
  drain();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->work.notify_one();
  if (given_up_) {
    thread_.detach();  // it hangs in write(2) until the program ends
  } else {
    thread_.join();
  }
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
  std::unique_lock lock(shared_->mutex);
  wait_until(lock, [this] { return shared_->queue.size() < kQueueBlocks; });
  if (!given_up_) {
    shared_->queue.push_back(std::move(block_));
    block_ = Block();
  }
  if (!shared_->spare.empty()) {
    block_ = std::move(shared_->spare.back());
    shared_->spare.pop_back();
  }
  lock.unlock();
  shared_->work.notify_one();
  block_.clear();
  block_.reserve(kBlockBytes);
}

void AsyncOutput::drain() {
  flush();
  std::unique_lock lock(shared_->mutex);
  wait_until(lock, [this] { return shared_->queue.empty() && !shared_->busy; });
}

template <typename Condition>
void AsyncOutput::wait_until(std::unique_lock<std::mutex>& lock, Condition condition) {
  Clock::time_point moved_at = Clock::now();
  std::uint64_t known_bytes = written_bytes();
  while (!given_up_ && !shared_->room.wait_for(lock, kLook, condition)) {
    if (written_bytes() != known_bytes) {
      known_bytes = written_bytes();
      moved_at = Clock::now();
    }
    if (is_out_of_patience(moved_at)) {
      given_up_ = true;
      shared_->failure = ETIMEDOUT;
      shared_->queue.clear();
    }
  }
}

bool AsyncOutput::is_out_of_patience(Clock::time_point moved_at) {
  if (stop_signals_ == nullptr) {
    return false;
  }
  const StopSignals::Asked asked = stop_signals_->asked();
  const auto patience = asked.count > 1 ? kLittlePatience : kPatience;
  return asked.count > 0 && Clock::now() - std::max(asked.first, moved_at) >= patience;
}

void AsyncOutput::Shared::run() {
  hurry_this_thread();  // who records waits for it
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [this] { return !queue.empty() || stopping; });
    if (queue.empty()) {
      return;
    }
    Block block = std::move(queue.front());
    queue.pop_front();
    busy = true;
    lock.unlock();
    if (failure == 0) {
      write_block(block);
    }
    lock.lock();
    busy = false;
    if (spare.size() < kSpareBlocks) {
      spare.push_back(std::move(block));
    }
    room.notify_all();
  }
}

// Without the lock: the disk may take its time.
void AsyncOutput::Shared::write_block(const Block& block) {
  std::size_t done_bytes = 0;
  while (done_bytes < block.size() && failure == 0) {
    const std::size_t piece_bytes = std::min(kWriteBytes, block.size() - done_bytes);
    const ssize_t count = ::write(fd.get(), block.data() + done_bytes, piece_bytes);
    if (count >= 0) {
      done_bytes += static_cast<std::size_t>(count);
      written_bytes += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
}

}  // namespace memtrace
