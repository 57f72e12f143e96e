// Page faults: the exceptions tracepoints (x86, riscv since 6.18) and the software events, which
// every kernel and architecture has. page-faults is raised when a fault begins, minor-faults and
// major-faults when it is done (mm/memory.c, mm_account_fault).
#include <array>

#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {
namespace {

Result<Decoder> bind_exception(const EventFormat& format, bool in_kernel) {
  FieldLookup lookup(format);
  const NumberAt address = lookup.required({"address"});
  const NumberAt ip = lookup.required({"ip"});
  const NumberAt error_code = lookup.required({"error_code"});
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return PageFault{.address = address.load(sample.raw.data()),
                     .ip = ip.load(sample.raw.data()),
                     .error_code = error_code.load(sample.raw.data()),
                     .has_error_code = true,
                     .in_kernel = in_kernel,
                     .stage = FaultStage::Entry};
  });
}

Result<Decoder> bind_user(const EventFormat& format) {
  return bind_exception(format, false);
}

Result<Decoder> bind_kernel(const EventFormat& format) {
  return bind_exception(format, true);
}

// A software event has no fields: address and ip are the sample's own.
template <FaultStage kStage>
Result<Decoder> bind_software(const EventFormat&) {
  return Decoder([](const RawSample& sample) -> RawPayload {
    PageFault fault;
    fault.address = sample.address;
    fault.ip = sample.ip;
    fault.stage = kStage;
    fault.physical_address = sample.physical_address;
    return fault;
  });
}

}  // namespace

std::span<const Tracepoint> fault_tracepoints() {
  static constexpr std::array<Tracepoint, 5> kTracepoints = {
      {{.name = "exceptions:page_fault_user",
        .bind = &bind_user,
        .when_missing = "whether memory was read or written is not known"},
       {"exceptions:page_fault_kernel", &bind_kernel},
       {"page-faults", &bind_software<FaultStage::Entry>},
       {"minor-faults", &bind_software<FaultStage::Minor>},
       {"major-faults", &bind_software<FaultStage::Major>}}};
  return kTracepoints;
}

}  // namespace memtrace
