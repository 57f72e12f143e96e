// A recording that says on a terminal how much of it has been read.
#pragma once

#include <memory>
#include <utility>

#include "cli/output/progress.h"
#include "perf/record/record_source.h"

namespace memtrace {

class ProgressSource final : public RecordSource {
 public:
  explicit ProgressSource(std::unique_ptr<RecordSource> source) : source_(std::move(source)) {}

  Result<std::optional<Record>> next() override;

  bool work_ahead(const Work& work) override { return source_->work_ahead(work); }

  const Recording& recording() const override { return source_->recording(); }

 private:
  static constexpr std::uint64_t kRecordsBetweenLooks = 4096;

  std::unique_ptr<RecordSource> source_;
  Progress progress_{"reading"};
  std::uint64_t records_ = 0;
};

}  // namespace memtrace
