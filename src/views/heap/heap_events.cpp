#include "views/heap/heap_events.h"

#include <string>

#include "base/text.h"
#include "base/units.h"

namespace memtrace {

Result<std::uint64_t> parse_bytes_option(const ViewOptions& options,
                                         const char* name,
                                         std::uint64_t otherwise) {
  const auto given = options.own.find(name);
  if (given == options.own.end()) {
    return otherwise;
  }
  const auto bytes = parse_bytes(given->second);
  if (!bytes) {
    return Error{.message = "--" + std::string(name) + " " + given->second + ": not a size",
                 .hint = "give bytes (4096) or a unit (64K, 2M, 1G)",
                 .kind = ErrorKind::Usage};
  }
  return *bytes;
}

Result<SizeLimits> parse_size_limits(const ViewOptions& options) {
  SizeLimits limits;
  auto min = parse_bytes_option(options, "min-bytes", limits.min_bytes);
  auto max = parse_bytes_option(options, "max-bytes", limits.max_bytes);
  if (!min.ok() || !max.ok()) {
    return min.ok() ? max.take_error() : min.take_error();
  }
  return SizeLimits{min.value(), max.value()};
}

bool is_heap_type(const EventType& type) {
  return !type.heap_function.empty();
}

HeapProbed::HeapProbed(const std::deque<EventType>& types) {
  for (const EventType& type : types) {
    if (!is_heap_type(type)) {
      continue;
    }
    const auto has = [&type](std::string_view field) { return type.format.find(field) != nullptr; };
    returns = returns || has("result");
    frees = frees || (has("ptr") && !has("size"));
    calls = calls || has("size");
  }
}

}  // namespace memtrace
