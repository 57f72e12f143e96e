#include "perf/ahead/ahead_source.h"

#include <csignal>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "os/guarded_thread.h"

namespace memtrace {

AheadSource::AheadSource(std::unique_ptr<HoldingSource> source) : source_(std::move(source)) {
  source_->on_change([this] { wait_for_caller(); });
  filling_ = std::make_unique<Batch>();
  for (std::size_t i = 1; i < kBatches; ++i) {
    empty_.push_back(std::make_unique<Batch>());
  }
}

bool AheadSource::work_ahead(const Work& work) {
  if (has_started_) {
    return false;
  }
  work_ = work;
  return true;
}

void AheadSource::start() {
  has_started_ = true;
  const BlockedSignals blocked{SIGBUS, SIGSEGV};  // of a file that becomes shorter while it is read
  thread_ = start_guarded_thread([this] { read(); },
                                 [this] {
                                   const std::lock_guard lock(mutex_);
                                   is_stopping_ = true;
                                   moved_.notify_all();
                                 });
}

AheadSource::~AheadSource() {
  stop();
}

void AheadSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  moved_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<std::optional<Record>> AheadSource::next() {
  if (!has_started_) {
    start();
  }
  while (true) {
    if (using_ != nullptr && used_ < using_->records.size()) {
      Result<std::optional<Record>> result{std::optional<Record>()};
      result.value().emplace(using_->records[used_++]);
      return result;
    }
    if (using_ != nullptr && using_->error) {
      return *using_->error;
    }
    if (has_ended_) {
      end();
      return std::optional<Record>();
    }
    if (!take_batch()) {
      return Error{thread_failure(), 0, "the recording was not read to its end"};
    }
  }
}

// Of many files that are read one after the other only one needs memory.
void AheadSource::end() {
  stop();
  if (using_ != nullptr) {
    full_.push_back(std::move(using_));
  }
  for (const std::vector<BatchPtr>& batches : {std::cref(full_), std::cref(empty_)}) {
    for (const BatchPtr& batch : batches) {
      release(*batch);
    }
  }
  full_.clear();
  empty_.clear();
}

// False: there will be no more, as the thread has failed.
bool AheadSource::take_batch() {
  std::unique_lock lock(mutex_);
  if (using_ != nullptr) {
    empty_.push_back(std::move(using_));
  }
  caller_waits_ = true;
  if (empty_.size() >= kBatchesToFill) {
    moved_.notify_all();
  }
  moved_.wait(lock, [this] { return !full_.empty() || is_stopping_; });
  caller_waits_ = false;
  if (full_.empty()) {
    return false;
  }
  using_ = std::move(full_.front());
  full_.erase(full_.begin());
  used_ = 0;
  has_ended_ = using_->is_last;
  return true;
}

void AheadSource::read() {
  while (!was_stopped_ && add_next()) {
    if (filling_->records.size() >= kBatchRecords || filling_->size_bytes >= kBatchBytes) {
      hand_over();
    }
  }
  filling_->is_last = true;
  hand_over();
}

// False: there are no more.
bool AheadSource::add_next() {
  auto taken = source_->take();
  if (!taken.ok()) {
    filling_->error = taken.take_error();
    return false;
  }
  if (!taken.value()) {
    return false;
  }
  const HoldingSource::Held& held = *taken.value();
  filling_->records.push_back(held.record);
  if (work_) {
    work_(filling_->records.back());
  }
  filling_->size_bytes += held.record.bytes.size();
  if (held.number) {
    filling_->held.push_back(*held.number);
  }
  return true;
}

void AheadSource::hand_over() {
  std::unique_lock lock(mutex_);
  full_.push_back(std::move(filling_));
  moved_.notify_all();
  if (empty_.empty()) {
    moved_.wait(lock, [this] { return empty_.size() >= kBatchesToFill || is_stopping_; });
  }
  if (is_stopping_) {
    filling_ = std::make_unique<Batch>();
    was_stopped_ = true;
    return;
  }
  filling_ = std::move(empty_.back());
  empty_.pop_back();
  lock.unlock();
  release(*filling_);
  filling_->records.clear();
  filling_->held.clear();
  filling_->size_bytes = 0;
}

void AheadSource::release(const Batch& batch) {
  for (const std::uint64_t number : batch.held) {
    source_->release(number);
  }
}

void AheadSource::wait_for_caller() {
  if (!filling_->records.empty()) {
    hand_over();
  }
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [this] { return (caller_waits_ && full_.empty()) || is_stopping_; });
  was_stopped_ = is_stopping_;
}

}  // namespace memtrace
