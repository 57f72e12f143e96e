#include "perf/record/record_builder.h"

#include <linux/perf_event.h>

#include <cstring>

namespace memtrace {
namespace {

constexpr std::size_t kLongestText = 4096;  // PATH_MAX; a record's size is 16 bits

std::uint16_t misc_of(const Mmap& mapping) {
  constexpr std::uint16_t kData = PERF_RECORD_MISC_MMAP_DATA;
  const std::uint16_t mode =
      mapping.mode == CpuMode::Kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
  return static_cast<std::uint16_t>(mapping.executable ? mode : mode | kData);
}

}  // namespace

void RecordBuilder::add_pair(std::uint32_t low, std::uint32_t high) {
  words_.push_back(low | (std::uint64_t{high} << 32));
}

void RecordBuilder::add_text(std::string_view text) {
  text = text.substr(0, kLongestText);
  const std::size_t start = words_.size();
  words_.resize(start + text.size() / sizeof(std::uint64_t) + 1);  // at least one NUL
  std::memcpy(&words_[start], text.data(), text.size());
}

std::size_t RecordBuilder::begin(std::uint32_t type, std::uint16_t misc) {
  add_pair(type, misc);
  return words_.size() - 1;
}

void RecordBuilder::end(std::size_t start, const Trailer& trailer) {
  if (shape_ != TrailerShape::None) {
    const bool id_first = shape_ == TrailerShape::IdBeforeCpu;
    constexpr std::uint64_t kCpu = 0;
    add_pair(trailer.pid, trailer.tid);
    words_.push_back(trailer.time_ns);
    words_.push_back(id_first ? tracking_id_ : kCpu);
    words_.push_back(id_first ? kCpu : tracking_id_);
  }
  const std::uint64_t size_bytes = (words_.size() - start) * sizeof(std::uint64_t);
  words_[start] |= size_bytes << 48;
}

void RecordBuilder::comm(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
  const std::size_t start = begin(PERF_RECORD_COMM, 0);
  add_pair(pid, tid);
  add_text(name);
  end(start, {.pid = pid, .tid = tid, .time_ns = time_ns_});
}

void RecordBuilder::mmap(const Mmap& mapping) {
  const std::size_t start = begin(PERF_RECORD_MMAP2, misc_of(mapping));
  add_pair(mapping.pid, mapping.tid);
  words_.insert(words_.end(), {mapping.start, mapping.length_bytes, mapping.file_offset});
  add_pair(mapping.major, mapping.minor);
  words_.insert(words_.end(), {mapping.inode, 0});
  add_pair(mapping.prot, mapping.flags);
  add_text(mapping.path);
  end(start, {.pid = mapping.pid, .tid = mapping.tid, .time_ns = time_ns_});
}

void RecordBuilder::lost(std::uint64_t count, std::uint64_t time_ns) {
  const std::size_t start = begin(PERF_RECORD_LOST, 0);
  words_.insert(words_.end(), {tracking_id_, count});
  end(start, {.time_ns = time_ns});
}

}  // namespace memtrace
