// The making of huge pages by khugepaged and MADV_COLLAPSE (include/trace/events/huge_memory.h).
#include <array>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

// The result is `status`, but `result` in the events of files and `ret` of swapping in.
template <CollapseStep Step>
Result<Decoder> bind(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt status = lookup.required({"status", "result", "ret"});
  return reading(lookup, [status](std::span<const std::byte> raw) {
    return Collapse{.step = Step, .status = static_cast<std::int32_t>(status.load(raw.data()))};
  });
}

}  // namespace

std::span<const Tracepoint> huge_memory_tracepoints() {
  static constexpr std::array<Tracepoint, 6> kTracepoints = {
      {{.name = "huge_memory:mm_khugepaged_scan_pmd",
        .bind = &bind<CollapseStep::Scan>,
        .when_missing = "how khugepaged makes huge pages is not seen"},
       {"huge_memory:mm_collapse_huge_page_isolate", &bind<CollapseStep::Isolate>},
       {"huge_memory:mm_collapse_huge_page_swapin", &bind<CollapseStep::SwapIn>},
       {"huge_memory:mm_collapse_huge_page", &bind<CollapseStep::Collapse>},
       {"huge_memory:mm_khugepaged_scan_file", &bind<CollapseStep::ScanFile>},
       {"huge_memory:mm_khugepaged_collapse_file", &bind<CollapseStep::CollapseFile>}}};
  return kTracepoints;
}

}  // namespace memtrace
