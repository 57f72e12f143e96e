// User probes without tracefs: the kernel's uprobe PMU (4.17, RHEL 7.7). It fetches no arguments
// and filters nothing; what a tracefs probe would have fetched is made from the sampled registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tracepoints/probe/uprobe_events.h"

namespace memtrace {

// One argument that is a register or a constant: "size=%di:u64", "kind=\\7:u8".
struct RegisterArgument {
  std::string name;
  std::optional<unsigned> perf_register;  // PERF_REG_*: the bit in attr.sample_regs_user
  std::uint64_t constant = 0;             // without a register
  std::uint32_t size_bytes = 8;
  bool is_signed = false;
};

// An argument without a name is called by its number, "arg1", as uprobe_events does. Error: an
// argument that is memory or text, which registers cannot hold.
Result<std::vector<RegisterArgument>> parse_register_arguments(std::string_view args);

// The registers among them, as in attr.sample_regs_user.
std::uint64_t register_mask(std::span<const RegisterArgument> arguments);

// What perf_event_attr needs for a probe.
struct UprobeAttr {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::shared_ptr<const std::string> path;  // must live until the event is open
  std::uint64_t file_offset = 0;            // config2
  std::uint64_t registers = 0;              // sample_regs_user

  std::uint64_t config1() const { return reinterpret_cast<std::uintptr_t>(path->c_str()); }
};

// Bits of attr.config that belong to one setting.
struct ConfigField {
  unsigned first_bit = 0;
  unsigned bit_count = 1;
};

class UprobePmu {
 public:
  // Error: not in this kernel.
  static Result<UprobePmu> open();
  // Whether this process may use it. The kernel is asked: CAP_SYS_ADMIN always may; CAP_PERFMON may
  // from 5.8 to 6.15 only, and stable kernels have taken it back too (kernel/events/core.c,
  // perf_uprobe_event_init()).
  bool is_allowed() const;
  static Result<UprobePmu> open_in(const std::string& sysfs_directory);

  // Error: what this PMU cannot do: arguments other than registers, semaphores on old kernels.
  Result<UprobeAttr> attr_for(const ProbeDefinition& definition) const;

 private:
  Result<> check_semaphore(const ProbeDefinition& definition) const;

  std::uint32_t type_ = 0;
  unsigned return_bit_ = 0;
  // Where the semaphore's offset goes: 4.20 and RHEL 9 have it.
  std::optional<ConfigField> semaphore_;
};

// The format file that uprobe_events would have given for this probe.
std::string synthetic_format(const DefinedProbe& probe,
                             std::span<const RegisterArgument> args,
                             bool is_return);

// Registers of one sample as PERF_SAMPLE_REGS_USER gives them.
struct SampledRegisters {
  std::uint64_t mask = 0;
  std::span<const std::uint64_t> values;  // in the order of the mask's bits
};

// The fields that all samples of a tracepoint begin with.
struct RawCommon {
  std::uint16_t id = 0;  // common_type
  std::int32_t pid = 0;  // common_pid: the thread's
};

// The bytes of PERF_SAMPLE_RAW as a tracefs probe would have given them. `places`: the probe's ip;
// of a return probe the function's and the ip it returned to. Empty when the sample has no
// registers, as of a task that was ending.
std::vector<std::byte> synthesize_raw(const RawCommon& common,
                                      std::span<const std::uint64_t> places,
                                      std::span<const RegisterArgument> args,
                                      const SampledRegisters& registers);

}  // namespace memtrace
