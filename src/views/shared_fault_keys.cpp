#include "views/shared_fault_keys.h"

#include <array>

namespace memtrace {
namespace {

constexpr std::uint64_t kSmallestPageBytes = 4096;
// The upper half of the address space is the kernel's on every 64-bit machine.
constexpr std::uint64_t kFirstKernelAddress = 0x8000000000000000U;
// x86, arch/x86/include/asm/trap_pf.h: X86_PF_WRITE, X86_PF_INSTR.
constexpr std::uint64_t kErrorWrite = 1U << 1U;
constexpr std::uint64_t kErrorExec = 1U << 4U;

const PageFault& fault_of(const Event& event) {
  return std::get<PageFault>(event.payload);
}

Cell access_cell(std::uint64_t word, const CellContext& /*context*/) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "read", "write", "exec"};
  return std::string(kNames[word]);
}

Cell class_cell(std::uint64_t word, const CellContext& context) {
  constexpr std::array<std::string_view, 3> kNames = {"unknown", "minor", "major"};
  const bool failed = word == 0 && context.fault_ends_seen && !context.sampled;
  return std::string(failed ? "failed" : kNames[word]);
}

Cell mode_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(word != 0 ? "kernel" : "user");
}

Cell page_cell(std::uint64_t word, const CellContext& /*context*/) {
  return word;
}

std::uint64_t settle_page(std::uint64_t word, const CellContext& context) {
  return word & ~(context.world.page_size_bytes() - 1);
}

constexpr auto kFaultKeys = std::to_array<KeySpec>({
    {.name = "access",
     .unit = Unit::Text,
     .of =
         [](const Event& event) { return static_cast<std::uint64_t>(access_of(fault_of(event))); },
     .cell = access_cell},
    {.name = "class",
     .unit = Unit::Text,
     .of = [](const Event& event) { return static_cast<std::uint64_t>(class_of(fault_of(event))); },
     .cell = class_cell},
    {.name = "mode",
     .unit = Unit::Text,
     .of = [](const Event& event) { return std::uint64_t{is_of_kernel(fault_of(event))}; },
     .cell = mode_cell},
    {.name = "page",
     .unit = Unit::Address,
     .of = [](const Event& event) { return page_of(fault_of(event)); },
     .cell = page_cell,
     .settle = settle_page},
});

}  // namespace

FaultAccess access_of(const PageFault& fault) {
  if (!fault.has_error_code) {
    return FaultAccess::Unknown;
  }
  if ((fault.error_code & kErrorExec) != 0) {
    return FaultAccess::Exec;
  }
  return (fault.error_code & kErrorWrite) != 0 ? FaultAccess::Write : FaultAccess::Read;
}

FaultClass class_of(const PageFault& fault) {
  switch (fault.stage) {
    case FaultStage::Minor:
      return FaultClass::Minor;
    case FaultStage::Major:
      return FaultClass::Major;
    case FaultStage::Entry:
      break;
  }
  return FaultClass::Open;
}

// Software events do not say so themselves, but the faulting instruction does.
bool is_of_kernel(const PageFault& fault) {
  return fault.in_kernel || fault.ip >= kFirstKernelAddress;
}

std::uint64_t page_of(const PageFault& fault) {
  return fault.address & ~(kSmallestPageBytes - 1);
}

std::span<const KeySpec> fault_keys() {
  return kFaultKeys;
}

}  // namespace memtrace
