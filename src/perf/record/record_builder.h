// Records that the kernel did not write: what was true before the events were enabled, and losses
// that memtrace noticed itself. Laid out as the kernel would have, so that perf reads them too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "perf/record/record.h"

namespace memtrace {

// How records other than samples end: TID, TIME, CPU, IDENTIFIER; without PERF_SAMPLE_IDENTIFIER
// TID, TIME, ID, CPU; without sample_id_all not at all.
enum class TrailerShape : std::uint8_t { IdentifierLast, IdBeforeCpu, None };

// A buffer of whole records, one after the other.
class RecordBuilder {
 public:
  // tracking_id: the event whose sample_id trailer they carry.
  explicit RecordBuilder(std::uint64_t tracking_id,
                         TrailerShape shape = TrailerShape::IdentifierLast)
      : tracking_id_(tracking_id), shape_(shape) {}

  // When that was what follows from now on.
  void set_time(std::uint64_t time_ns) { time_ns_ = time_ns; }

  void comm(std::uint32_t pid, std::uint32_t tid, std::string_view name);
  void mmap(const Mmap& mapping);
  void lost(std::uint64_t count, std::uint64_t time_ns);

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

  void clear() { words_.clear(); }

 private:
  struct Trailer {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t time_ns = 0;
  };

  std::size_t begin(std::uint32_t type, std::uint16_t misc);
  void end(std::size_t start, const Trailer& trailer);
  void add_pair(std::uint32_t low, std::uint32_t high);
  void add_text(std::string_view text);

  std::uint64_t tracking_id_ = 0;
  TrailerShape shape_;
  std::uint64_t time_ns_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace memtrace
