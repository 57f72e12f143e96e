#include "perf/cost/trap_cost.h"

#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "os/host_machine.h"
#include "os/system.h"
#include "perf/event/event_fd.h"

namespace memtrace {

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" {
// Labels of the two instructions below.
extern const char memtrace_emulated_place[] __attribute__((visibility("hidden")));
extern const char memtrace_stepped_place[] __attribute__((visibility("hidden")));
}

namespace {

constexpr int kCalls = 100;
constexpr int kTrapRounds = 12;

[[gnu::noinline]] void call_emulated(std::uint64_t& value) {
  asm volatile("memtrace_emulated_place: nop" : "+r"(value));
}

[[gnu::noinline]] void call_stepped(std::uint64_t& value) {
  asm volatile("memtrace_stepped_place: mov %0, %0" : "+r"(value));
}

using Call = void (*)(std::uint64_t& value);

double fastest_call_ns(Call call) {
  double fastest = 0;
  std::uint64_t value = 1;
  for (int round = 0; round < kTrapRounds; ++round) {
    const std::uint64_t start_ns = monotonic_ns();
    for (int i = 0; i < kCalls; ++i) {
      call(value);
    }
    const double ns = static_cast<double>(monotonic_ns() - start_ns) / kCalls;
    fastest = round == 0 ? ns : std::min(fastest, ns);
  }
  return fastest;
}

// Where in the file of this program the byte at an address lies.
struct FilePlace {
  std::uint64_t address = 0;
  std::optional<std::uint64_t> offset;
};

bool is_loaded_from(const Elf64_Phdr& header, std::uint64_t start, std::uint64_t address) {
  return header.p_type == PT_LOAD && address >= start && address < start + header.p_filesz;
}

// For dl_iterate_phdr(3): 1 ends it. The program itself comes first, and the place is in it.
int look_for_place(dl_phdr_info* object, std::size_t /*size*/, void* found) {
  auto* wanted = static_cast<FilePlace*>(found);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    const std::uint64_t start = object->dlpi_addr + header.p_vaddr;
    if (is_loaded_from(header, start, wanted->address)) {
      wanted->offset = wanted->address - start + header.p_offset;
      break;
    }
  }
  return 1;
}

std::optional<std::uint64_t> file_offset_of(const void* address) {
  FilePlace place{.address = reinterpret_cast<std::uintptr_t>(address), .offset = {}};
  ::dl_iterate_phdr(look_for_place, &place);
  return place.offset;
}

Result<std::uint32_t> pmu_type() {
  const auto text = read_file("/sys/bus/event_source/devices/uprobe/type");
  if (!text.ok()) {
    return text.error();
  }
  const auto number = parse_number(text.value().substr(0, text.value().find('\n')));
  return number ? Result<std::uint32_t>(static_cast<std::uint32_t>(*number))
                : Error{"reading the type of the uprobe PMU", EINVAL, ""};
}

Result<double> trap_ns(std::uint32_t type, const void* instruction, Call call) {
  static const std::string program = "/proc/self/exe";
  const auto offset = file_offset_of(instruction);
  if (!offset) {
    return Error{"finding an instruction of memtrace in its file", ENOENT, ""};
  }
  const double bare_ns = fastest_call_ns(call);
  perf_event_attr attr{};
  attr.type = type;
  attr.size = PERF_ATTR_SIZE_VER1;
  attr.config1 = reinterpret_cast<std::uintptr_t>(program.c_str());
  attr.config2 = *offset;
  const auto event = EventFd::open(attr, {.tid = 0, .cpu = -1}, "calibration of probes");
  if (!event.ok()) {
    return event.error();
  }
  const double probed_ns = fastest_call_ns(call);
  if (event.value().read_count() < static_cast<std::uint64_t>(kCalls) * kTrapRounds) {
    return Error{"measuring the trap of a probe", EINVAL, ""};  // it is not where it should be
  }
  return std::max(0.0, probed_ns - bare_ns);
}

}  // namespace

Result<TrapCost> measure_trap_cost() {
  const auto type = pmu_type();
  if (!type.ok()) {
    return type.error();
  }
  const auto emulated = trap_ns(type.value(), memtrace_emulated_place, call_emulated);
  if (!emulated.ok()) {
    return emulated.error();
  }
  const auto stepped = trap_ns(type.value(), memtrace_stepped_place, call_stepped);
  if (!stepped.ok()) {
    return stepped.error();
  }
  return TrapCost{.emulated_ns = emulated.value(), .stepped_ns = stepped.value()};
}

#else

Result<TrapCost> measure_trap_cost() {
  return Error{"measuring the trap of a probe: not on this architecture", ENOSYS, ""};
}

#endif

}  // namespace memtrace
