#include "tracepoints/decode/heap.h"

#include <array>
#include <limits>
#include <optional>

#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {
namespace {

// The parts of "memtrace_heap_12:malloc_2_ret_3".
struct HeapName {
  std::string_view function;  // "malloc"
  std::string_view call;      // "malloc_2"
  bool is_return = false;
};

std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool is_numbered =
      last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '_';
  return is_numbered ? name.substr(0, last) : name;
}

HeapName parse_name(std::string_view event_name) {
  std::string_view event = event_name.substr(event_name.find(':') + 1);
  event = event.substr(0, event.find(':'));  // perf's modifiers
  HeapName name{.function = {}, .call = event};
  if (const std::string_view numberless = without_number(event);
      numberless.ends_with(kReturnSuffix)) {
    name.is_return = true;
    name.call = numberless.substr(0, numberless.size() - kReturnSuffix.size());
  } else if (numberless.ends_with(kAgainSuffix)) {
    name.call = numberless.substr(0, numberless.size() - kAgainSuffix.size());
  }
  name.function = without_number(name.call);
  return name;
}

struct CallFields {
  std::optional<NumberAt> ptr;
  std::optional<NumberAt> size;
  std::optional<NumberAt> count;
  std::optional<NumberAt> stack_pointer;
  bool has_inner = false;
  std::size_t needed_bytes = 0;
};

HeapOp op_of(const CallFields& fields) {
  if (!fields.ptr) {
    return HeapOp::Alloc;
  }
  return fields.size ? HeapOp::Realloc : HeapOp::Free;
}

std::uint64_t product(std::uint64_t left, std::uint64_t right) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(left, right, &result) ? std::numeric_limits<std::uint64_t>::max()
                                                      : result;
}

HeapCall read_call(const CallFields& fields, const std::byte* data) {
  HeapCall call{.op = op_of(fields), .has_inner = fields.has_inner};
  call.address = fields.ptr ? fields.ptr->load(data) : 0;
  call.bytes = fields.size ? fields.size->load(data) : 0;
  if (fields.count) {
    call.bytes = product(call.bytes, fields.count->load(data));
  }
  if (fields.stack_pointer) {
    call.stack_pointer = static_cast<std::uint32_t>(fields.stack_pointer->load(data));
  }
  return call;
}

Result<Decoder> bind_call(FieldLookup& lookup) {
  CallFields fields{.ptr = lookup.optional("ptr"),
                    .size = lookup.optional("size"),
                    .count = lookup.optional("count"),
                    .stack_pointer = lookup.optional("sp"),
                    .has_inner = lookup.has("inner")};
  if (!fields.ptr) {
    lookup.required({"size"});
  }
  TRY(lookup.check());
  fields.needed_bytes = lookup.needed_bytes();
  return Decoder([fields](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < fields.needed_bytes) {
      return {};
    }
    return read_call(fields, sample.raw.data());
  });
}

// malloc/malloc.c: a chunk's size word lies before the block; its three lowest bits are flags, and
// the word itself is part of the size.
std::uint64_t usable_bytes(std::uint64_t size_word) {
  constexpr std::uint64_t kFlags = 7;
  constexpr std::uint64_t kIsMmapped = 2;  // such a chunk cannot use the next one's first word
  constexpr std::uint64_t kWordBytes = 8;
  const std::uint64_t chunk_bytes = size_word & ~kFlags;
  const std::uint64_t own_bytes = (size_word & kIsMmapped) != 0 ? 2 * kWordBytes : kWordBytes;
  return chunk_bytes > own_bytes ? chunk_bytes - own_bytes : 0;
}

Result<Decoder> bind_return(FieldLookup& lookup) {
  const NumberAt result = lookup.required({"result"});
  const std::optional<NumberAt> chunk = lookup.optional("chunk");
  const std::optional<NumberAt> stack_pointer = lookup.optional("sp");
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    HeapReturn ended{.address = result.load(sample.raw.data()), .usable_bytes = {}};
    if (chunk) {
      ended.usable_bytes = usable_bytes(chunk->load(sample.raw.data()));
    }
    if (stack_pointer) {
      ended.stack_pointer = static_cast<std::uint32_t>(stack_pointer->load(sample.raw.data()));
    }
    return ended;
  });
}

Result<Decoder> bind_again(FieldLookup& lookup) {
  const NumberAt again = lookup.required({"again"});
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([again, needed_bytes](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return HeapAgain{.bytes = again.load(sample.raw.data())};
  });
}

Result<Decoder> bind_heap(const EventFormat& format) {
  FieldLookup lookup(format);
  if (lookup.has("again")) {
    return bind_again(lookup);
  }
  return lookup.has("result") ? bind_return(lookup) : bind_call(lookup);
}

}  // namespace

bool is_heap_event(std::string_view event_name) {
  return event_name.starts_with(kHeapGroup) && event_name.find(':') != std::string_view::npos;
}

bool is_heap_return(std::string_view event_name) {
  return is_heap_event(event_name) && parse_name(event_name).is_return;
}

std::string heap_function(std::string_view event_name) {
  return std::string(parse_name(event_name).function);
}

std::string heap_call_name(std::string_view event_name) {
  return std::string(parse_name(event_name).call);
}

const Tracepoint& heap_probe() {
  static constexpr Tracepoint kProbe{"memtrace_heap_*", &bind_heap};
  return kProbe;
}

}  // namespace memtrace
