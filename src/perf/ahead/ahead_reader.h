// One of those who use what a source reads ahead.
#pragma once

#include <cstddef>
#include <optional>

#include "perf/ahead/ahead_batches.h"
#include "perf/record/record_source.h"

namespace memtrace {

// For one thread.
class AheadReader final : public RecordSource {
 public:
  // Both outlive it. `source` is asked for its recording alone.
  AheadReader(AheadBatches& batches, std::size_t number, const RecordSource& source)
      : batches_(batches), source_(source), number_(number) {}

  AheadReader(const AheadReader&) = delete;
  AheadReader& operator=(const AheadReader&) = delete;
  AheadReader(AheadReader&&) = delete;
  AheadReader& operator=(AheadReader&&) = delete;

  ~AheadReader() override { AheadReader::leave(); }

  Result<std::optional<Record>> next() override;

  void leave() override;

  const Recording& recording() const override { return source_.recording(); }

 private:
  AheadBatches& batches_;
  const RecordSource& source_;
  std::size_t number_ = 0;
  const AheadBatches::Batch* using_ = nullptr;
  std::size_t used_ = 0;
  bool has_left_ = false;
};

}  // namespace memtrace
