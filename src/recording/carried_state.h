// What a file begins with when the recording did not begin with it: which processes and threads
// run, what they are called and what they have mapped, as the records of the files before have left
// it. So a file can be read without those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "perf/record/record_builder.h"
#include "state/world/world.h"

namespace memtrace {

// As the recorder knows it, and not as /proc says: /proc is ahead of the records that are still to
// be written. `world` tracks mappings.
class CarriedState {
 public:
  // `builder` makes records as the tracking event's are; `kernel` is kernel_mapping().
  CarriedState(RecordBuilder builder,
               const World& world,
               const std::optional<Mmap>& kernel,
               std::uint64_t time_ns);

  // One after the other.
  std::span<const std::byte> bytes() const { return records_.bytes(); }

  std::uint64_t record_count() const { return count_; }

 private:
  void add_process(std::uint32_t pid, const ProcessTable::ThreadNames& threads);
  void add_mapping(std::uint32_t pid, const MemoryMap::Entry& mapping);

  const World& world_;
  RecordBuilder records_;
  std::uint64_t count_ = 0;
};

}  // namespace memtrace
