// Small readings that samples, other records and header sections share.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/byte_reader.h"
#include "base/result.h"
#include "perf/record/perf_format.h"
#include "perf/record/record.h"

namespace memtrace {

using Bytes = std::span<const std::byte>;
inline constexpr std::size_t kWord = sizeof(std::uint64_t);

inline std::uint64_t word_at(Bytes bytes, std::size_t offset) {
  std::uint64_t word = 0;
  if (offset + kWord <= bytes.size()) {
    std::memcpy(&word, bytes.data() + offset, kWord);
  }
  return word;
}

inline std::uint64_t word_before_end(Bytes bytes, std::size_t distance) {
  const bool inside = distance >= kWord && distance + sizeof(RecordHeader) <= bytes.size();
  return inside ? word_at(bytes, bytes.size() - distance) : 0;
}

// perf writes all ones into records that it makes up before it knows any time.
inline std::uint64_t known_time(std::uint64_t time_ns) {
  return time_ns == ~0ULL ? 0 : time_ns;
}

inline CpuMode mode_of(std::uint16_t misc) {
  switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
      return CpuMode::Unknown;
    case PERF_RECORD_MISC_KERNEL:
      return CpuMode::Kernel;
    case PERF_RECORD_MISC_USER:
      return CpuMode::User;
    default:
      return CpuMode::Other;
  }
}

// Text in a field that ends at its first NUL or at the field's end. Unlike ByteReader::text() it
// hands no null pointer to strnlen() when the field is missing.
inline std::string_view text_field(ByteReader& reader, std::size_t size_bytes) {
  const Bytes field = reader.take(size_bytes);
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  return text.substr(0, text.find('\0'));
}

inline Error malformed(const char* what, std::uint32_t type) {
  return {std::string(what) + " (record type " + std::to_string(type) + ")", 0, ""};
}

}  // namespace memtrace
