#include "perf/file_out/zstd_writer.h"

#include "base/thread/blocked_signals.h"
#include "os/catch_up.h"
#include "os/guarded_thread.h"
#include "os/this_thread.h"

namespace memtrace {
namespace {

constexpr std::size_t kQueueBlocks = 32;

}  // namespace

ZstdWriter::ZstdWriter(int level) : packer_(level) {
  {
    const BlockedSignals blocked;
    thread_ = start_guarded_thread([this] { run(); }, [this] { give_up(); });
  }
  block_.reserve(kZstdPieceMaxBytes);
}

ZstdWriter::~ZstdWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

bool ZstdWriter::append(std::span<const std::byte> record) {
  const bool is_full = block_.size() + record.size() > kZstdPieceMaxBytes;
  if (is_full) {
    hand_over();
  }
  block_.insert(block_.end(), record.begin(), record.end());
  return is_full;
}

void ZstdWriter::hand_over() {
  if (block_.empty()) {
    return;
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return queue_.size() < kQueueBlocks || gave_up_; });
  if (gave_up_) {
    block_.clear();
    return;
  }
  queue_.push_back(std::exchange(block_, Block()));
  lock.unlock();
  work_.notify_one();
  block_.reserve(kZstdPieceMaxBytes);
}

std::vector<ZstdPiece> ZstdWriter::count(std::vector<ZstdPiece> pieces) {
  for (const ZstdPiece& piece : pieces) {
    plain_bytes_ += piece.plain_bytes;
    packed_bytes_ += piece.bytes.size();
  }
  return pieces;
}

std::vector<ZstdPiece> ZstdWriter::take() {
  const std::lock_guard lock(mutex_);
  return count(std::exchange(ready_, {}));
}

std::vector<ZstdPiece> ZstdWriter::drain() {
  hand_over();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return (queue_.empty() && !busy_) || gave_up_; });
  return count(std::exchange(ready_, {}));
}

// Nobody waits for blocks that will not come. The lock is not held where memory is taken for them,
// and unlocked by the exception where it is.
void ZstdWriter::give_up() {
  const std::lock_guard lock(mutex_);
  gave_up_ = true;
  done_.notify_all();
}

void ZstdWriter::run() {
  hurry_this_thread();  // who records waits for it
  CatchUp catch_up;
  std::vector<ZstdPiece> pieces;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) {
      return;
    }
    const Block block = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    const bool is_behind = queue_.size() >= kQueueBlocks / 4;
    lock.unlock();
    catch_up.keep(is_behind);
    pieces.clear();
    packer_.pack(block, pieces);
    lock.lock();
    busy_ = false;
    ready_.insert(ready_.end(),
                  std::make_move_iterator(pieces.begin()),
                  std::make_move_iterator(pieces.end()));
    done_.notify_all();
  }
}

}  // namespace memtrace
