// Where ordered records come from: rings of a live kernel, or a file. The first stage of
// everything.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "perf/record/record.h"
#include "perf/record/recording.h"

namespace memtrace {

class RecordSource {
 public:
  RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;
  RecordSource(RecordSource&&) = delete;
  RecordSource& operator=(RecordSource&&) = delete;
  virtual ~RecordSource() = default;

  // The next record in time order; nothing at the end. Blocks on a live source.
  virtual Result<std::optional<Record>> next() = 0;

  // The same records for `count` callers, each in a thread of its own, in place of next() and
  // before the first record was taken. They end before this source does. Empty: there can be one
  // only.
  virtual std::vector<std::unique_ptr<RecordSource>> share(std::size_t /*count*/) { return {}; }

  // The caller needs no more records. Those who share a source wait for each other until then.
  virtual void leave() {}

  // Complete as far as it has been read: a pipe announces its events as they come, and sections
  // behind the data are there at the end only.
  virtual const Recording& recording() const = 0;
};

}  // namespace memtrace
