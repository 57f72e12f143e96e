// System calls. The fields of an entry are named after the parameters of the kernel's function,
// those of all exits are one, `ret` (kernel/trace/trace_syscalls.c).
#include <array>
#include <cstring>
#include <utility>

#include "tracepoints/decode/reading.h"
#include "tracepoints/decode/system_calls.h"
#include "tracepoints/decode/tracepoint.h"

namespace memtrace {
namespace {

struct Arguments {
  std::array<NumberAt, 6> places;
  std::size_t count = 0;
};

Arguments find_arguments(SystemCall call, FieldLookup& lookup) {
  Arguments found;
  for (const std::string_view names : argument_names(call)) {
    if (names.empty()) {
      break;
    }
    const std::size_t bar = names.find('|');
    const std::string_view old_name = bar == std::string_view::npos ? names : names.substr(bar + 1);
    found.places.at(found.count++) = lookup.required({names.substr(0, bar), old_name});
  }
  return found;
}

template <SystemCall kCall>
Result<Decoder> bind_entry(const EventFormat& format) {
  FieldLookup lookup(format);
  const Arguments arguments = find_arguments(kCall, lookup);
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    SystemCallEntry entry{.call = kCall};
    for (std::size_t i = 0; i < arguments.count; ++i) {
      entry.arguments[i] = arguments.places[i].load(sample.raw.data());
    }
    return entry;
  });
}

template <SystemCall kCall>
Result<Decoder> bind_exit(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt result = lookup.required({"ret"});
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return SystemCallExit{.call = kCall,
                          .result = static_cast<std::int64_t>(result.load(sample.raw.data()))};
  });
}

// All calls by number. The events of raw_syscalls were in the group syscalls on 2.6.32.
Result<Decoder> bind_raw_entry(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt number = lookup.required({"id"});
  const std::uint32_t place = lookup.required_array("args", sizeof(SystemCallArguments));
  return reading(lookup, [=, numbers = CallNumbers(format.architecture)](auto raw) {
    SystemCallEntry entry{.call = numbers.call(number.load(raw.data()))};
    std::memcpy(entry.arguments.data(), raw.data() + place, sizeof(entry.arguments));
    return entry;
  });
}

Result<Decoder> bind_raw_exit(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt number = lookup.required({"id"});
  const NumberAt result = lookup.required({"ret"});
  return reading(lookup, [=, numbers = CallNumbers(format.architecture)](auto raw) {
    return SystemCallExit{.call = numbers.call(number.load(raw.data())),
                          .result = static_cast<std::int64_t>(result.load(raw.data()))};
  });
}

template <std::size_t... Index>
auto make_tracepoints(std::index_sequence<Index...> /*all*/) {
  return std::array<Tracepoint, 2 * sizeof...(Index) + 4>{
      Tracepoint{entry_event(static_cast<SystemCall>(Index)),
                 &bind_entry<static_cast<SystemCall>(Index)>,
                 EventRole::Begin}...,
      Tracepoint{exit_event(static_cast<SystemCall>(Index)),
                 &bind_exit<static_cast<SystemCall>(Index)>,
                 EventRole::End}...,
      Tracepoint{kRawEntries[0], &bind_raw_entry, EventRole::Begin},
      Tracepoint{kRawEntries[1], &bind_raw_entry, EventRole::Begin},
      Tracepoint{kRawExits[0], &bind_raw_exit, EventRole::End},
      Tracepoint{kRawExits[1], &bind_raw_exit, EventRole::End}};
}

}  // namespace

std::span<const Tracepoint> system_call_tracepoints() {
  static const auto tracepoints = make_tracepoints(std::make_index_sequence<kSystemCalls>());
  return tracepoints;
}

}  // namespace memtrace
