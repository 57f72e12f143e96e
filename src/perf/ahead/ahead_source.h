// Reads a source ahead in a thread of its own: while the caller works on some records, the thread
// unpacks, sorts and parses the next ones.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "perf/ahead/holding_source.h"

namespace memtrace {

// Batches go round between the thread and the caller:
//
//   thread:  fill ──> full_ ──> caller: records one by one ──> empty_ ──> thread: release, fill
//
// The thread starts with the first call of next(). It changes the recording only while the caller
// waits and all records before the change have been used: the caller sees it change where it would
// without a thread.
class AheadSource final : public RecordSource {
 public:
  static constexpr std::size_t kBatches = 8;
  // The thread sleeps until this many are empty: waking it for each one costs too much.
  static constexpr std::size_t kBatchesToFill = 4;
  static constexpr std::size_t kBatchRecords = 512;
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;  // records with stacks are large

  explicit AheadSource(std::unique_ptr<HoldingSource> source);
  AheadSource(const AheadSource&) = delete;
  AheadSource& operator=(const AheadSource&) = delete;
  AheadSource(AheadSource&&) = delete;
  AheadSource& operator=(AheadSource&&) = delete;
  ~AheadSource() override;

  Result<std::optional<Record>> next() override;

  bool work_ahead(const Work& work) override;

  const Recording& recording() const override { return source_->recording(); }

  void release_texts() override { source_->release_texts(); }

 private:
  struct Batch {
    std::vector<Record> records;
    std::vector<std::uint64_t> held;
    std::size_t size_bytes = 0;
    std::optional<Error> error;  // behind the records
    bool is_last = false;
  };

  using BatchPtr = std::unique_ptr<Batch>;

  void start();
  void stop();
  void end();
  void read();
  bool add_next();
  void hand_over();
  void release(const Batch& batch);
  void wait_for_caller();
  bool take_batch();

  std::unique_ptr<HoldingSource> source_;
  Work work_;                 // the thread's, when it runs
  BatchPtr filling_;          // the thread's
  bool was_stopped_ = false;  // the thread's
  BatchPtr using_;            // the caller's
  std::size_t used_ = 0;
  bool has_started_ = false;
  bool has_ended_ = false;

  std::mutex mutex_;  // guards all below
  std::condition_variable moved_;
  std::vector<BatchPtr> full_;  // in order
  std::vector<BatchPtr> empty_;
  bool caller_waits_ = false;
  bool is_stopping_ = false;  // the caller needs no more, or the thread has failed
  std::thread thread_;
};

}  // namespace memtrace
