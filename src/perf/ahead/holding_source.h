// A source that holds the memory of several records at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "perf/record/record_source.h"

namespace memtrace {

class HoldingSource : public RecordSource {
 public:
  // The next record, whose memory is held for as long as the caller wants.
  struct Held {
    Record record;
    std::optional<std::uint64_t> number;  // nothing: it has no memory
  };

  // As next(), and several records may be valid.
  virtual Result<std::optional<Held>> take() = 0;

  // The record of this number is not needed any more.
  virtual void release(std::uint64_t number) = 0;

  // `before` is called before recording() changes.
  virtual void on_change(std::function<void()> before) = 0;
};

}  // namespace memtrace
