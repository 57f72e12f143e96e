// System calls that change an address space: their entries and exits. The exits' formats all have
// one field, `ret` (kernel/trace/trace_syscalls.c).
#include <array>
#include <initializer_list>

#include "tracepoints/field_lookup.h"
#include "tracepoints/tracepoint.h"

namespace memtrace {
namespace {

// Where the arguments of one system call are; those that it has not are 0.
struct CallFields {
  NumberAt address;
  std::optional<NumberAt> bytes;
  std::optional<NumberAt> new_bytes;
  std::optional<NumberAt> protection;
  std::optional<NumberAt> flags;
};

std::uint64_t load(const std::optional<NumberAt>& field, const std::byte* data) {
  return field ? field->load(data) : 0;
}

Result<Decoder> decoder_of(MapOp op, const FieldLookup& lookup, const CallFields& fields) {
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> EventPayload {
    const std::byte* data = sample.raw.data();
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return MapCall{.op = op,
                   .address = fields.address.load(data),
                   .bytes = load(fields.bytes, data),
                   .new_bytes = load(fields.new_bytes, data),
                   .protection = load(fields.protection, data),
                   .flags = load(fields.flags, data)};
  });
}

Result<Decoder> bind_mmap(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"addr"}),
                          .bytes = lookup.required({"len"}),
                          .protection = lookup.required({"prot"}),
                          .flags = lookup.required({"flags"})};
  return decoder_of(MapOp::Map, lookup, fields);
}

Result<Decoder> bind_munmap(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"addr"}), .bytes = lookup.required({"len"})};
  return decoder_of(MapOp::Unmap, lookup, fields);
}

Result<Decoder> bind_mprotect(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"start"}),
                          .bytes = lookup.required({"len"}),
                          .protection = lookup.required({"prot"})};
  return decoder_of(MapOp::Protect, lookup, fields);
}

Result<Decoder> bind_mremap(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"addr"}),
                          .bytes = lookup.required({"old_len"}),
                          .new_bytes = lookup.required({"new_len"}),
                          .flags = lookup.required({"flags"})};
  return decoder_of(MapOp::Remap, lookup, fields);
}

Result<Decoder> bind_madvise(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"start"}),
                          .bytes = lookup.required({"len_in", "len"}),
                          .flags = lookup.required({"behavior"})};
  return decoder_of(MapOp::Advise, lookup, fields);
}

Result<Decoder> bind_brk(const EventFormat& format) {
  FieldLookup lookup(format);
  const CallFields fields{.address = lookup.required({"brk"})};
  return decoder_of(MapOp::Break, lookup, fields);
}

template <MapOp Op>
Result<Decoder> bind_exit(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt result = lookup.required({"ret"});
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  return Decoder([=](const RawSample& sample) -> EventPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return MapReturn{.op = Op, .result = static_cast<std::int64_t>(result.load(sample.raw.data()))};
  });
}

}  // namespace

std::span<const Tracepoint> mapping_tracepoints() {
  static constexpr std::array<Tracepoint, 12> kTracepoints = {
      {{"syscalls:sys_enter_mmap", &bind_mmap},
       {"syscalls:sys_exit_mmap", &bind_exit<MapOp::Map>},
       {"syscalls:sys_enter_munmap", &bind_munmap},
       {"syscalls:sys_exit_munmap", &bind_exit<MapOp::Unmap>},
       {"syscalls:sys_enter_mprotect", &bind_mprotect},
       {"syscalls:sys_exit_mprotect", &bind_exit<MapOp::Protect>},
       {"syscalls:sys_enter_mremap", &bind_mremap},
       {"syscalls:sys_exit_mremap", &bind_exit<MapOp::Remap>},
       {"syscalls:sys_enter_madvise", &bind_madvise},
       {"syscalls:sys_exit_madvise", &bind_exit<MapOp::Advise>},
       {"syscalls:sys_enter_brk", &bind_brk},
       {"syscalls:sys_exit_brk", &bind_exit<MapOp::Break>}}};
  return kTracepoints;
}

}  // namespace memtrace
