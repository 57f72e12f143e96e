#include "perf/unpack/unpack_ahead.h"

#include <csignal>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "os/guarded_thread.h"
#include "perf/unpack/zstd_reader.h"

namespace memtrace {

UnpackAhead::UnpackAhead(std::span<const std::byte> records) : walk_(records) {
  const BlockedSignals blocked{SIGBUS, SIGSEGV};  // of a file that becomes shorter while it is read
  const auto end = [this] {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    moved_.notify_all();
  };
  thread_ = start_guarded_thread(
      [this, end] {
        unpack_all();
        end();
      },
      end);
}

UnpackAhead::~UnpackAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  moved_.notify_all();
  thread_.join();
}

void UnpackAhead::feed(std::span<const std::byte> /*payload*/) {
  has_more_ = true;
}

Result<std::optional<std::span<const std::byte>>> UnpackAhead::next() {
  using Found = std::optional<std::span<const std::byte>>;
  while (true) {
    if (used_ < using_.records.size()) {
      return Found(using_.records[used_++]);
    }
    if (using_.error) {
      has_more_ = false;
      return *using_.error;
    }
    if (std::exchange(using_.ends_payload, false)) {
      has_more_ = false;
      return Found();
    }
    if (!take_batch()) {
      has_more_ = false;
      return Error{has_failed_thread() ? thread_failure()
                                       : "more compressed records than the file had at first",
                   0,
                   ""};
    }
  }
}

// False: there will be no more.
bool UnpackAhead::take_batch() {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [this] { return !batches_.empty() || has_ended_; });
  if (batches_.empty()) {
    return false;
  }
  using_ = std::move(batches_.front());
  batches_.pop_front();
  used_ = 0;
  moved_.notify_all();
  return true;
}

void UnpackAhead::unpack_all() {
  ZstdReader reader;
  while (const auto payload = walk_.next()) {
    reader.feed(*payload);
    if (!unpack_payload(reader)) {
      return;
    }
  }
}

// False: it was the last one that can be unpacked, or that anybody needs.
bool UnpackAhead::unpack_payload(PackedRecords& reader) {
  Batch batch;
  while (true) {
    auto record = reader.next();
    if (!record.ok()) {
      batch.error = record.take_error();
      hand_over(std::move(batch));
      return false;
    }
    if (!record.value()) {
      batch.ends_payload = true;
      return hand_over(std::move(batch));
    }
    if (batch.has_no_room_in(reader.memory()) && !hand_over(std::exchange(batch, {}))) {
      return false;
    }
    batch.memory = reader.memory();
    batch.records.push_back(*record.value());
  }
}

// False: nobody needs more.
bool UnpackAhead::hand_over(Batch batch) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [this] { return batches_.size() < kMaxBatches || is_stopping_; });
  if (is_stopping_) {
    return false;
  }
  batches_.push_back(std::move(batch));
  moved_.notify_all();
  return true;
}

}  // namespace memtrace
