// A live source beside which something else is looked at, many times a second: the keyboard.
#pragma once

#include <functional>
#include <utility>

#include "perf/record/record_source.h"

namespace memtrace {

class WatchedSource final : public RecordSource {
 public:
  // `source` outlives this. A live source gives out a tick each 20 ms, and none under full load.
  WatchedSource(RecordSource& source, std::function<Result<>()> look)
      : source_(source), look_(std::move(look)) {}

  Result<std::optional<Record>> next() override;

  const Recording& recording() const override { return source_.recording(); }

 private:
  RecordSource& source_;
  std::function<Result<>()> look_;
  std::uint64_t records_ = 0;  // since the last look
};

}  // namespace memtrace
