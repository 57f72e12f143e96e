#include "perf/ahead/ahead_source.h"

#include <csignal>
#include <utility>

#include "os/guarded_thread.h"

namespace memtrace {

// Signals are for the thread that waits for them. A thread inherits the mask.
AheadSource::AheadSource(std::unique_ptr<HoldingSource> source)
    : source_(std::move(source)),
      filling_(batches_.take_empty()),
      first_(std::make_unique<AheadReader>(batches_, 0, *source_)) {
  source_->on_change([this] { wait_for_callers(); });
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigdelset(&all, SIGBUS);  // of a file that becomes shorter while it is read
  ::sigdelset(&all, SIGSEGV);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = start_guarded_thread([this] { read(); }, [this] { batches_.stop(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AheadSource::~AheadSource() {
  batches_.stop();
  thread_.join();
}

// The first of them takes the place of the only caller.
std::vector<std::unique_ptr<RecordSource>> AheadSource::share(std::size_t count) {
  std::vector<std::unique_ptr<RecordSource>> readers;
  for (std::size_t i = 1; i < count; ++i) {
    readers.push_back(std::make_unique<AheadReader>(batches_, batches_.add_reader(), *source_));
  }
  readers.insert(readers.begin(), std::move(first_));
  return readers;
}

void AheadSource::read() {
  while (filling_ != nullptr && add_next()) {
    if (filling_->records.size() >= kBatchRecords || filling_->size_bytes >= kBatchBytes) {
      hand_over();
    }
  }
  if (filling_ != nullptr) {
    filling_->is_last = true;
    batches_.give(*filling_);
  }
}

// False: there are no more.
bool AheadSource::add_next() {
  auto taken = source_->take();
  if (filling_ == nullptr) {
    return false;  // nobody waits for it: the recording was about to change
  }
  if (!taken.ok()) {
    filling_->error = taken.take_error();
    return false;
  }
  if (!taken.value()) {
    return false;
  }
  const HoldingSource::Held& held = *taken.value();
  filling_->records.push_back(held.record);
  filling_->size_bytes += held.record.bytes.size();
  if (held.number) {
    filling_->held.push_back(*held.number);
  }
  return true;
}

void AheadSource::hand_over() {
  batches_.give(*filling_);
  filling_ = batches_.take_empty();
  if (filling_ == nullptr) {
    return;
  }
  for (const std::uint64_t number : filling_->held) {
    source_->release(number);
  }
  filling_->records.clear();
  filling_->held.clear();
  filling_->size_bytes = 0;
}

void AheadSource::wait_for_callers() {
  if (filling_ != nullptr && !filling_->records.empty()) {
    hand_over();
  }
  if (filling_ != nullptr && !batches_.wait_for_readers()) {
    filling_ = nullptr;
  }
}

}  // namespace memtrace
