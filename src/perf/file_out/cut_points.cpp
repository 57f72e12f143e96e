#include "perf/file_out/cut_points.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

// The records of `bytes` that are whole. A COMPRESSED one among them has packed_samples.
DataBlocks::Cut walk(std::span<const std::byte> bytes,
                     std::uint64_t packed_samples,
                     std::uint64_t& sample_count) {
  DataBlocks::Cut cut;
  while (true) {
    const auto rest = bytes.subspan(cut.end);
    const RecordHeader header = header_of(rest);
    if (header.size_bytes < sizeof(RecordHeader) || header.size_bytes > rest.size()) {
      return cut;
    }
    if (header.type == kCompressed) {
      sample_count += packed_samples;
    } else {
      sample_count += header.type == PERF_RECORD_SAMPLE ? 1 : 0;
    }
    cut.end += header.size_bytes;
  }
}

}  // namespace

Result<DataBlocks::Cut> DataBlocks::cut(int fd, std::uint64_t wanted_end) {
  Cut cut{wanted_end, 0};
  while (!blocks_.empty() && blocks_.back().offset >= wanted_end) {
    cut.samples_cut += blocks_.back().sample_count;
    cut.end = blocks_.back().offset;
    blocks_.pop_back();
  }
  if (blocks_.empty()) {
    cut.end = std::min(cut.end, wanted_end);
    return cut;
  }
  Block& last = blocks_.back();
  std::vector<std::byte> bytes(wanted_end - last.offset);
  const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(last.offset));
  if (count < 0) {
    return Error{"read(the recording)", errno, "make room on the disk and record again"};
  }
  bytes.resize(static_cast<std::size_t>(count));
  std::uint64_t kept = 0;
  cut.end = last.offset + walk(bytes, last.sample_count, kept).end;
  cut.samples_cut += last.sample_count - kept;
  last.sample_count = kept;
  return cut;
}

}  // namespace memtrace
