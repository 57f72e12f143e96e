// The parts of a perf.data file around its records, as bytes.
//
//   header | ids | attrs | early copy of features || records || feature table | late features
//                                                              | ids | attrs
//
// The last two only if events were added while recording: then they are those of all events.
// The table's entries of early features point into the early copy: perf does not mind where a
// section lies, and so nothing is stored twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "perf/file_out/feature_writer.h"
#include "perf/file_out/file_writer.h"
#include "perf/record/perf_format.h"

namespace memtrace {

class FileSections {
 public:
  explicit FileSections(const WriterSetup& setup);

  // From now on the end sections have these attrs and ids.
  void set_events(std::vector<WrittenEvent> events) { events_ = std::move(events); }

  // All before the records. Its header says that there are none yet.
  std::span<const std::byte> head() const { return head_; }

  std::uint64_t data_offset() const { return head_.size(); }

  // The feature table and the late features for data that ends at data_end; a late one replaces an
  // early one of the same number. Remembered for
  // finished_header().
  std::vector<std::byte> end_sections(const std::vector<FeatureBody>& late, std::uint64_t data_end);

  // The header to be put over the first one.
  std::span<const std::byte> finished_header(std::uint64_t data_end);

 private:
  struct Placed {
    std::uint32_t feature = 0;
    FileSection section;
  };

  void put_attrs(std::span<const WrittenEvent> events, std::uint64_t offset, ByteWriter& out);

  FileHeader header_;
  FileSection early_attrs_;
  std::vector<WrittenEvent> events_;  // empty: they stand before the records
  std::vector<std::byte> head_;
  std::vector<Placed> early_;
};

}  // namespace memtrace
