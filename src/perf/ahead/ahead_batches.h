// Batches of records on their way from the thread that reads them to those that use them.
//
//   thread:  fill ──> each reader: records one by one ──> (all have used it) ──> thread: fill
//
// All readers get all batches, in their order. Who is ahead waits for the others.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "perf/record/record.h"

namespace memtrace {

class AheadBatches {
 public:
  struct Batch {
    std::vector<Record> records;
    std::vector<std::uint64_t> held;
    std::size_t size_bytes = 0;
    std::optional<Error> error;  // behind the records
    bool is_last = false;
  };

  // With one reader, number 0.
  explicit AheadBatches(std::size_t count);

  // One more, which gets the same as number 0. That one has not taken a batch yet.
  std::size_t add_reader();

  // The thread's: a batch to be filled; null when no more are wanted.
  Batch* take_empty();
  void give(Batch& full);
  // Until the readers have used all that was given, and wait for more. False: no more are wanted.
  bool wait_for_readers();

  // A reader's: its next batch, when it is through with the last one. Null: there will be none.
  const Batch* take(std::size_t reader, const Batch* used);
  // The reader needs no more; once for each.
  void leave(std::size_t reader, const Batch* used);

  // Nobody needs more, or the thread has failed: nobody waits for the other side any more.
  void stop();

 private:
  struct Owned {
    Batch batch;
    std::size_t users = 0;  // readers that have not used it yet
  };

  struct Reader {
    std::deque<Owned*> full;
    bool waits = false;
    bool has_left = false;
  };

  void release(const Batch& used);

  std::mutex mutex_;  // guards all below, but for what is in a batch
  std::condition_variable moved_;
  std::vector<std::unique_ptr<Owned>> all_;
  std::vector<Owned*> empty_;
  std::vector<Reader> readers_;
  bool is_stopping_ = false;
};

}  // namespace memtrace
