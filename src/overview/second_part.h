// Runs a part of the first screen in a thread of its own, beside the first part.
#pragma once

#include <optional>
#include <thread>

#include "base/result.h"
#include "overview/screen_part.h"
#include "perf/record/record_source.h"

namespace memtrace {

class SecondPart {
 public:
  // All outlive it. `own` is the source of `part`.
  SecondPart(ScreenPart& part, RecordSource& own, RecordSource& of_first);
  SecondPart(const SecondPart&) = delete;
  SecondPart& operator=(const SecondPart&) = delete;
  SecondPart(SecondPart&&) = delete;
  SecondPart& operator=(SecondPart&&) = delete;

  ~SecondPart() { wait(); }

  // What became of it. The first part takes no more records.
  Result<> end();

 private:
  void wait();

  RecordSource& of_first_;
  // The thread's, until it has ended; nothing when an exception has ended it.
  std::optional<Result<>> result_;
  std::thread thread_;
};

}  // namespace memtrace
