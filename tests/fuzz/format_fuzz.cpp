// The description of a tracepoint and a sample of it: what stands behind the text's last NUL are
// the sample's bytes.
#include <vector>

#include "fuzz/fuzz_target.h"
#include "perf/record/tracing_data.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/event/event.h"
#include "tracepoints/format/field.h"
#include "tracepoints/format/format.h"

namespace memtrace::fuzz {
namespace {

void read_fields(const EventFormat& format, Input raw) {
  std::size_t read_bytes = 0;
  for (const Field& field : format.fields) {
    const std::uint64_t number = field.number(raw);
    read_bytes += field.text(raw).size();
    read_bytes += print_flags(number, field.flags).size();
    read_bytes += print_flags(number, field.symbols).size();
  }
  [[maybe_unused]] volatile std::size_t is_read = read_bytes;
}

void decode(const EventType& type, Input raw) {
  const auto decoder = decoder_for(type);
  if (decoder.ok()) {
    static_cast<void>(decoder.value()({.raw = raw}));
  }
}

}  // namespace

void fuzz_format(Input input) {
  const std::string_view whole = text_of(input);
  const std::size_t end = whole.rfind('\0');
  const std::string_view text = whole.substr(0, end);
  const Input raw = end == std::string_view::npos ? input : input.subspan(end + 1);
  const auto format = parse_format(text, "kmem");
  if (format.ok()) {
    read_fields(format.value(), raw);
    for (const EventGroup& group : event_groups()) {
      for (const Tracepoint& event :
           group.events == nullptr ? std::span<const Tracepoint>() : group.events()) {
        // By the name of the text's own line alone, to be quick: every decoder by its own name.
        const std::string_view name = event.name.substr(event.name.find(':') + 1);
        if (name == format.value().name) {
          decode({.name = std::string(event.name), .format = format.value()}, raw);
        }
      }
    }
    for (const Tracepoint* event : {&heap_probe(), &arena_probe()}) {
      const auto decoder = event->bind(format.value());
      if (decoder.ok()) {
        static_cast<void>(decoder.value()({.raw = raw}));
      }
    }
  }
  static_cast<void>(describe_format("kmem", std::string(text)));
  static_cast<void>(parse_tracing_data(input));
}

}  // namespace memtrace::fuzz
