// Where ordered records come from: rings of a live kernel, or a file. The first stage of
// everything.
#pragma once

#include <functional>
#include <optional>

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

  // What a thread does with each record before next() gives it out, in order. It reads what others
  // do not change. To be called before next().
  using Work = std::function<void(Record&)>;

  // False: there is no such thread, and the work is left to the caller.
  virtual bool work_ahead(const Work& /*work*/) { return false; }

  // Complete as far as it has been read: a pipe announces its events as they come, and sections
  // behind the data are there at the end only.
  virtual const Recording& recording() const = 0;

  // The caller has a copy of recording(). Its long texts are not needed any more: build ids, names,
  // identities and memtrace's own JSON. To be called before next().
  virtual void release_texts() {}
};

}  // namespace memtrace
