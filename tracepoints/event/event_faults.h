// Payloads of page faults.
#pragma once

#include <cstdint>

namespace memtrace {

// exceptions:page_fault_user and _kernel, software page-faults: Entry, with error_code if there is
// one. Software minor-faults and major-faults: the fault's completion.
enum class FaultStage : std::uint8_t { Entry, Minor, Major };

// Bits of error_code on x86: X86_PF_PROT, X86_PF_WRITE and X86_PF_INSTR of
// arch/x86/include/asm/trap_pf.h.
inline constexpr std::uint64_t kFaultPresent = 1U << 0U;
inline constexpr std::uint64_t kFaultWrite = 1U << 1U;
inline constexpr std::uint64_t kFaultExec = 1U << 4U;

struct PageFault {
  std::uint64_t address = 0;
  std::uint64_t ip = 0;
  std::uint64_t error_code = 0;  // x86: kFaultPresent and others, bit 2 user
  bool has_error_code = false;
  bool in_kernel = false;  // exceptions:page_fault_kernel
  FaultStage stage = FaultStage::Entry;
  std::uint64_t physical_address = 0;  // of the page; 0 when it is not known
};

}  // namespace memtrace
