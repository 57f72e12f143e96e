// Events of page faults, and mappings for them, in scripts for views.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <string_view>

#include "support/event_script.h"

namespace memtrace::test {

inline constexpr std::uint64_t kUserIp = 0x401000;
inline constexpr std::uint64_t kKernelIp = 0xffffffff81000010;
// x86's error codes: of user mode, bit 0 for a page that was there.
inline constexpr std::uint64_t kRead = 4;
inline constexpr std::uint64_t kWrite = 6;
inline constexpr std::uint64_t kWriteProtected = 7;
inline constexpr std::uint64_t kExec = 0x14;

inline Step entry(std::uint64_t address, std::uint64_t error_code = kWrite) {
  return {.event = "exceptions:page_fault_user",
          .payload = PageFault{
              .address = address, .ip = kUserIp, .error_code = error_code, .has_error_code = true}};
}

inline Step kernel_entry(std::uint64_t address) {
  return {.event = "exceptions:page_fault_kernel",
          .payload = PageFault{.address = address,
                               .ip = kKernelIp,
                               .error_code = 2,
                               .has_error_code = true,
                               .in_kernel = true}};
}

inline Step software(std::uint64_t address, std::uint64_t ip = kUserIp) {
  return {.event = "page-faults", .payload = PageFault{.address = address, .ip = ip}};
}

inline Step minor(std::uint64_t address, std::uint64_t ip = kUserIp) {
  return {.event = "minor-faults",
          .payload = PageFault{.address = address, .ip = ip, .stage = FaultStage::Minor},
          .stack = 2};
}

inline Step major(std::uint64_t address, std::uint64_t ip = kUserIp) {
  return {.event = "major-faults",
          .payload = PageFault{.address = address, .ip = ip, .stage = FaultStage::Major},
          .stack = 2};
}

// A page allocation of the kernel, with GFP flags whose names are to be declared by the test.
inline Step page_alloc(std::uint32_t order, std::uint64_t gfp = 0, bool failed = false) {
  return {.event = "kmem:mm_page_alloc",
          .payload = PageAlloc{.page = 0x100, .order = order, .gfp = gfp, .failed = failed}};
}

inline Step signal_to(std::uint32_t tid, std::int32_t signal) {
  return {.event = "signal:signal_generate",
          .payload = SignalSent{.signal = signal, .pid = tid, .comm = {}}};
}

// A page of RHEL 6's own events.
inline Step page(ResidentChange change, RssMember member) {
  return {.event = "kmem:mm_", .payload = ResidentPage{.change = change, .member = member}};
}

inline Step by_thread(std::uint32_t tid, Step step) {
  step.tid = tid;
  return step;
}

inline Step by_process(std::uint32_t pid, Step step) {
  step.pid = pid;
  return step;
}

inline Step weighing(std::uint64_t weight, Step step) {
  step.weight = weight;
  return step;
}

inline Step with_stack(std::uint32_t stack, Step step) {
  step.stack = stack;
  return step;
}

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  AreaKind kind = AreaKind::Anonymous;
  std::string_view path = "//anon";
  std::uint64_t file_offset = 0;
  bool shared = false;
  std::uint64_t inode = 0;
  bool has_number = true;  // the file's device is known, as its inode
  std::uint32_t pid = 100;
};

inline void map(EventScript& script, const Mapping& mapping) {
  World& world = script.world();
  MemoryArea area{.kind = mapping.kind,
                  .path = world.strings().intern(mapping.path),
                  .major = mapping.has_number ? 254U : 0U,
                  .minor = mapping.has_number ? 1U : 0U,
                  .inode = mapping.inode,
                  .protection = PROT_READ | PROT_WRITE,
                  .flags = mapping.shared ? unsigned{MAP_SHARED} : unsigned{MAP_PRIVATE}};
  world.announce({.pid = mapping.pid,
                  .tid = mapping.pid,
                  .range = {mapping.start, mapping.start + mapping.bytes},
                  .file_offset = mapping.file_offset,
                  .area = area});
}

}  // namespace memtrace::test
