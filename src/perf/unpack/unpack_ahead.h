// Unpacks the COMPRESSED records of a file in a thread of its own, before they are asked for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "perf/unpack/packed_records.h"
#include "perf/unpack/payload_walk.h"

namespace memtrace {

//   thread: walk ──> unpack ──> batches_ ──> next(): record by record
class UnpackAhead final : public PackedRecords {
 public:
  static constexpr std::size_t kMaxBatches = 6;          // of one block of memory each, or less
  static constexpr std::size_t kMaxBatchRecords = 4096;  // the caller begins before a block is full

  // `records` are those of the whole file, from the first one on. They stay where they are.
  explicit UnpackAhead(std::span<const std::byte> records);
  UnpackAhead(const UnpackAhead&) = delete;
  UnpackAhead& operator=(const UnpackAhead&) = delete;
  UnpackAhead(UnpackAhead&&) = delete;
  UnpackAhead& operator=(UnpackAhead&&) = delete;
  ~UnpackAhead() override;

  // The payloads must be those of all records, in order.
  void feed(std::span<const std::byte> payload) override;
  Result<std::optional<std::span<const std::byte>>> next() override;

  bool has_more() const override { return has_more_; }

  const RecordMemory& memory() const override { return using_.memory; }

 private:
  // Records of one payload that lie in one block of memory.
  struct Batch {
    std::vector<std::span<const std::byte>> records;
    RecordMemory memory;
    std::optional<Error> error;  // behind the records
    bool ends_payload = false;

    bool has_no_room_in(const RecordMemory& block) const {
      return !records.empty() && (records.size() >= kMaxBatchRecords || memory != block);
    }
  };

  void unpack_all();
  bool unpack_payload(PackedRecords& reader);
  bool hand_over(Batch batch);
  bool take_batch();

  PayloadWalk walk_;  // the thread's
  Batch using_;       // the caller's, as all up to the mutex
  std::size_t used_ = 0;
  bool has_more_ = false;

  std::mutex mutex_;  // guards all below
  std::condition_variable moved_;
  std::deque<Batch> batches_;
  bool has_ended_ = false;    // the thread
  bool is_stopping_ = false;  // the caller needs no more
  std::thread thread_;
};

}  // namespace memtrace
