// Spine 2: one perf record with its meaning, bounds-checked once when it was parsed. Layouts:
// include/uapi/linux/perf_event.h, PERF_RECORD_*. Spans and string_views borrow from the ring or
// file that the record came from and are valid until the source's next() is called again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "base/ids.h"

namespace memtrace {

// Order of records: time_ns, then stream (a ring, or 0 for a whole file), then sequence.
struct Stamp {
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::uint32_t stream = 0;
  std::uint64_t sequence = 0;
};

// Registers as sampled, by ascending bit of attr.sample_regs_user.
struct UserRegisters {
  std::uint64_t abi = 0;   // PERF_SAMPLE_REGS_ABI_*; 0: a kernel thread, no registers
  std::uint64_t mask = 0;  // which registers
  std::span<const std::uint64_t> values;
};

// misc's cpumode: where the sampled instruction was.
enum class CpuMode : std::uint8_t { Unknown, Kernel, User, Other };

struct Sample {
  std::uint32_t event = 0;  // index into Recording::events
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t ip = 0;
  std::uint64_t address = 0;           // PERF_SAMPLE_ADDR: of a page fault, the faulting address
  std::uint64_t physical_address = 0;  // PERF_SAMPLE_PHYS_ADDR; 0: the kernel did not find it
  bool has_physical_address = false;
  std::uint64_t period = 1;  // how many hits this sample represents
  CpuMode mode = CpuMode::Unknown;
  // Innermost first, with PERF_CONTEXT_* markers as the kernel wrote them.
  std::span<const std::uint64_t> callchain;
  StackId stack;  // of the callchain, where it was made ahead (RecordSource::work_ahead)
  std::span<const std::byte> raw;  // a tracepoint's fields
  UserRegisters registers;
  std::span<const std::byte> user_stack;  // dyn_size bytes from the user stack pointer upwards
};

struct Mmap {
  std::uint32_t pid = 0;  // 0xffffffff: the kernel's own
  std::uint32_t tid = 0;
  std::uint64_t start = 0;  // AVMA
  std::uint64_t length_bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t major = 0, minor = 0;
  std::uint64_t inode = 0;
  std::uint32_t prot = 0;   // PROT_*, 0 when the record does not say (MMAP)
  std::uint32_t flags = 0;  // MAP_*
  bool executable = true;   // false: a data mapping (misc MMAP_DATA)
  CpuMode mode = CpuMode::Unknown;
  std::span<const std::byte> build_id;  // empty when the record has none
  std::string_view path;
};

struct Comm {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  bool exec = false;  // misc COMM_EXEC: the address space is new
  std::string_view name;
};

// A new thread has pid == parent_pid.
struct Fork {
  std::uint32_t pid = 0, parent_pid = 0;
  std::uint32_t tid = 0, parent_tid = 0;
};

struct Exit {
  std::uint32_t pid = 0, parent_pid = 0;
  std::uint32_t tid = 0, parent_tid = 0;
};

// Kernel: the ring was full (PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES). Late: older than what had
// already been passed on. Overload: memtrace itself fell behind. Malformed: a record that does not
// parse. DiskFull: it was captured but could not be written.
enum class LossReason : std::uint8_t { Kernel, Late, Overload, Malformed, DiskFull };

struct Lost {
  std::uint64_t count = 0;
  LossReason reason = LossReason::Kernel;
  // It happened between then and the record's own time; 0: nothing more is known.
  std::uint64_t first_ns = 0;
};

// A sample that lost the outer part of its stack to overload.
struct CutStacks {
  std::uint64_t count = 0;
};

struct Throttle {
  bool on = false;
};

// Live sources only: every record up to stamp.time_ns has been delivered.
struct Tick {};

// Live sources only: how often an event that is only counted happened on the stamp's CPU since the
// last such record of it.
struct Counted {
  std::uint32_t event = 0;  // index into Recording::events
  std::uint64_t count = 0;
};

// A record that memtrace has no use for; passed on so that it can be copied.
struct OtherRecord {
  std::uint32_t type = 0;
};

using RecordPayload = std::
    variant<OtherRecord, Sample, Mmap, Comm, Fork, Exit, Lost, CutStacks, Throttle, Tick, Counted>;

struct Record {
  Stamp stamp;
  RecordPayload payload;
  // The whole record with its header as it stood in the ring or file; empty for one that memtrace
  // made itself.
  std::span<const std::byte> bytes;
};

// Callchain entries from here up are markers, not addresses (PERF_CONTEXT_MAX, -4095).
inline constexpr std::uint64_t kFirstContextMarker = 0xfffffffffffff001U;
inline constexpr std::uint64_t kContextKernel = 0xffffffffffffff80U;  // -128
inline constexpr std::uint64_t kContextUser = 0xfffffffffffffe00U;    // -512
inline constexpr std::uint32_t kKernelPid = 0xffffffffU;

}  // namespace memtrace
