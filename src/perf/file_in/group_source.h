// Makes of each sample of a group's leader one sample for each event of the group that was hit
// since, as perf script does.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "perf/file_in/group_counts.h"
#include "perf/record/record_source.h"

namespace memtrace {

class GroupSource final : public RecordSource {
 public:
  // `counts` and `parser` are of that source and live as long.
  GroupSource(std::unique_ptr<RecordSource> source, GroupCounts& counts, const RecordParser& parser)
      : source_(std::move(source)), counts_(counts), parser_(parser) {}

  Result<std::optional<Record>> next() override;

  const Recording& recording() const override { return source_->recording(); }

  void release_texts() override { source_->release_texts(); }

 private:
  void split(const Record& record, const Sample& sample);

  std::unique_ptr<RecordSource> source_;
  GroupCounts& counts_;
  const RecordParser& parser_;
  std::vector<Record> split_;  // of the source's last record, of which they borrow
  std::size_t given_ = 0;
};

// The source itself when it has no such samples.
std::unique_ptr<RecordSource> with_groups(std::unique_ptr<RecordSource> source,
                                          GroupCounts& counts,
                                          const RecordParser& parser);

}  // namespace memtrace
