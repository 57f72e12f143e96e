// Payloads of page faults.
#pragma once

#include <cstdint>

namespace memtrace {

// exceptions:page_fault_user and _kernel, software page-faults: Entry, with error_code if there is
// one. Software minor-faults and major-faults: the fault's completion.
enum class FaultStage : std::uint8_t { Entry, Minor, Major };

struct PageFault {
  std::uint64_t address = 0;
  std::uint64_t ip = 0;
  std::uint64_t error_code = 0;  // x86: bit 0 present, 1 write, 2 user, 4 instruction fetch
  bool has_error_code = false;
  bool in_kernel = false;  // exceptions:page_fault_kernel
  FaultStage stage = FaultStage::Entry;
  std::uint64_t physical_address = 0;  // of the page; 0 when it is not known
};

}  // namespace memtrace
