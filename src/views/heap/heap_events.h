// What the views of the user heap have in common: their events, size limits and sentences.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string_view>

#include "base/result.h"
#include "tracepoints/event/event.h"
#include "views/view.h"

namespace memtrace {

// The entries of allocating functions, their returns, and frees; plan/probes/heap_probes.h makes
// probes of them.
inline constexpr std::string_view kHeapCalls = "heap:calls";
inline constexpr std::string_view kHeapReturns = "heap:returns";
inline constexpr std::string_view kHeapFrees = "heap:frees";

// --min-bytes and --max-bytes.
struct SizeLimits {
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();

  bool accept_all() const {
    return min_bytes == 0 && max_bytes == std::numeric_limits<std::uint64_t>::max();
  }

  bool accept(std::uint64_t bytes) const { return bytes >= min_bytes && bytes <= max_bytes; }
};

inline constexpr ViewOption kMinBytesOption{
    "min-bytes", "BYTES", "only allocations of at least this size"};
inline constexpr ViewOption kMaxBytesOption{
    "max-bytes", "BYTES", "only allocations of at most this size"};

// Errors: Usage.
Result<SizeLimits> parse_size_limits(const ViewOptions& options);
Result<std::uint64_t> parse_bytes_option(const ViewOptions& options,
                                         const char* name,
                                         std::uint64_t otherwise);

bool is_heap_type(const EventType& type);

// The events of a recording that a view of live blocks needs.
struct HeapProbed {
  bool calls = false;
  bool returns = false;
  bool frees = false;

  explicit HeapProbed(const std::deque<EventType>& types = {});
};

}  // namespace memtrace
