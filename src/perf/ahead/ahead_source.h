// Reads a source ahead in a thread of its own: while the caller works on some records, the thread
// unpacks, sorts and parses the next ones.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "perf/ahead/ahead_batches.h"
#include "perf/ahead/ahead_reader.h"
#include "perf/ahead/holding_source.h"

namespace memtrace {

// The thread changes the recording only while all callers wait and all records before the change
// have been used: a caller sees it change where it would without a thread.
class AheadSource final : public RecordSource {
 public:
  static constexpr std::size_t kBatches = 4;
  static constexpr std::size_t kBatchRecords = 2048;
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;  // records with stacks are large

  explicit AheadSource(std::unique_ptr<HoldingSource> source);
  AheadSource(const AheadSource&) = delete;
  AheadSource& operator=(const AheadSource&) = delete;
  AheadSource(AheadSource&&) = delete;
  AheadSource& operator=(AheadSource&&) = delete;
  ~AheadSource() override;

  Result<std::optional<Record>> next() override { return first_->next(); }

  std::vector<std::unique_ptr<RecordSource>> share(std::size_t count) override;

  void leave() override {
    if (first_ != nullptr) {
      first_->leave();
    }
  }

  const Recording& recording() const override { return source_->recording(); }

 private:
  void read();
  bool add_next();
  void hand_over();
  void wait_for_callers();

  std::unique_ptr<HoldingSource> source_;
  AheadBatches batches_{kBatches};
  AheadBatches::Batch* filling_ = nullptr;  // the thread's; null: no more are wanted
  std::unique_ptr<AheadReader> first_;      // the caller's; null when there are several
  std::thread thread_;
};

}  // namespace memtrace
