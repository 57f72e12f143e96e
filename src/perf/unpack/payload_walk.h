// The payloads of all COMPRESSED records of a file that is in memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace memtrace {

class PayloadWalk {
 public:
  // `records` begins with a record's header.
  explicit PayloadWalk(std::span<const std::byte> records) : rest_(records) {}

  // The next one; nothing behind the last one, or behind what is no record.
  std::optional<std::span<const std::byte>> next();

 private:
  std::span<const std::byte> rest_;
};

// The payload of a COMPRESSED or COMPRESSED2 record (perf_format.h), at most what the record holds;
// nothing for records of other types.
std::optional<std::span<const std::byte>> packed_payload(std::span<const std::byte> record);

// What follows a record without being counted in its size, in bytes.
std::uint64_t bytes_behind(std::span<const std::byte> record);

}  // namespace memtrace
