#include "perf/event/event_attr.h"

#include <asm/perf_regs.h>

#include <algorithm>
#include <ctime>

#include "os/host_machine.h"
#include "perf/record/perf_event_compat.h"

namespace memtrace {
namespace {

// What every record of ours carries. PERF_SAMPLE_PERIOD is left out: with it the kernel ignores
// the period of a tracepoint (perf_tp_event: each hit is then a sample of its own).
std::uint64_t common_sample(const AttrFeatures& features) {
  constexpr std::uint64_t kCommon =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  // The id must lie at the same place in all samples of a ring: before it may be an address.
  return kCommon |
         (features.identifier ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID | PERF_SAMPLE_ADDR);
}

std::uint64_t instruction_register() {
#if defined(__x86_64__)
  return std::uint64_t{1} << PERF_REG_X86_IP;
#elif defined(__aarch64__)
  return std::uint64_t{1} << PERF_REG_ARM64_PC;
#endif
}

std::uint64_t unwinding_registers(const CallGraph& call_graph) {
  if (call_graph.at_system_calls) {
    return caller_registers() | instruction_register();
  }
  return call_graph.at_calls ? caller_registers() : general_registers();
}

void ask_for_stacks(perf_event_attr& attr,
                    const CallGraph& call_graph,
                    const AttrFeatures& features) {
  if (!call_graph.any()) {
    return;
  }
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_kernel = call_graph.kernel || !features.callchain_parts ? 0 : 1;
  attr.exclude_callchain_user = call_graph.user || !features.callchain_parts ? 0 : 1;
  if (!features.user_stack) {
    return;
  }
  if (call_graph.user && call_graph.stack_bytes != 0) {
    attr.exclude_callchain_user = features.callchain_parts ? 1 : 0;
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = unwinding_registers(call_graph);
    attr.sample_stack_user = call_graph.stack_bytes;
  } else if (call_graph.user && call_graph.repair) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = repair_registers() & unwinding_registers(call_graph);
    attr.sample_stack_user = kRepairStackBytes;
  }
}

void ask_for_tracking(perf_event_attr& attr, const AttrContext& context) {
  const AttrFeatures& features = context.features;
  attr.mmap = 1;
  attr.mmap_data = context.data_mappings && features.data_mappings ? 1 : 0;
  attr.mmap2 = features.mmap2 ? 1 : 0;
  attr.comm = 1;
  attr.comm_exec = features.comm_exec ? 1 : 0;
  attr.task = 1;
}

void ask_for_probe(perf_event_attr& attr, const PmuProbe& probe) {
  attr.sample_type |= PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user |= probe.registers;
  if (!probe.is_of_pmu()) {
    return;
  }
  attr.config = probe.config;
  attr.config1 = reinterpret_cast<std::uintptr_t>(probe.path->c_str());
  attr.config2 = probe.file_offset;
  // An inherited event would be made anew by the task that forks, which reads the path in its own
  // memory: fork(2) fails then (perf_uprobe_event_init(), seen on 6.18).
  attr.inherit = 0;
}

// Empty fields that distinguish the samples of software events when another recorder's id is in
// them (perf/live/record_mender.h): a place more before the CPU's, and an empty one for raw data.
// Older kernels than those with PERF_SAMPLE_IDENTIFIER give each sample its own id.
std::uint64_t mark_of(std::uint64_t software_event) {
  switch (software_event) {
    case PERF_COUNT_SW_PAGE_FAULTS_MIN:
      return 0;
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
      return PERF_SAMPLE_RAW;
    case PERF_COUNT_SW_PAGE_FAULTS:
      return PERF_SAMPLE_STREAM_ID;
    default:
      return PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW;
  }
}

// Bits `first` to `last`.
constexpr std::uint64_t bits(unsigned first, unsigned last) {
  return ((std::uint64_t{2} << last) - 1) & ~((std::uint64_t{1} << first) - 1);
}

}  // namespace

// Flags and segment registers have no part in it; the kernel refuses most of the latter.
std::uint64_t general_registers() {
#if defined(__x86_64__)
  return bits(PERF_REG_X86_AX, PERF_REG_X86_IP) | bits(PERF_REG_X86_R8, PERF_REG_X86_R15);
#elif defined(__aarch64__)
  return (std::uint64_t{1} << PERF_REG_ARM64_MAX) - 1;
#endif
}

// Compilers address the frame of a calling function only by rsp and rbp, among the registers that a
// call preserves (System V ABI for x86-64, figure 3.4): r10 and r13, which replace them while gcc
// aligns a stack, are used only between calls. rbx is for glibc's _dl_runtime_resolve
// (sysdeps/x86_64/dl-trampoline.h). So it is in all of Debian 12's programs and libraries. The
// instruction is PERF_SAMPLE_IP. AAPCS64, section 6.1.1.
std::uint64_t caller_registers() {
#if defined(__x86_64__)
  return (1U << PERF_REG_X86_BX) | (1U << PERF_REG_X86_BP) | (1U << PERF_REG_X86_SP);
#elif defined(__aarch64__)
  return bits(PERF_REG_ARM64_X19, PERF_REG_ARM64_PC);
#endif
}

std::uint64_t repair_registers() {
#if defined(__x86_64__)
  return instruction_register() | (1U << PERF_REG_X86_SP);
#elif defined(__aarch64__)
  return instruction_register() | (std::uint64_t{1} << PERF_REG_ARM64_SP) |
         (std::uint64_t{1} << PERF_REG_ARM64_LR);
#endif
}

std::string both_filters(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) {
    return first + second;
  }
  return "(" + first + ") && (" + second + ")";
}

CallGraph call_graph_of(const EventRequest& request, CallGraph asked) {
  asked.kernel = asked.kernel && request.stacks && !request.on_user_code;
  asked.user = asked.user && request.stacks && request.user_stack;
  asked.at_calls = request.on_user_code;
  asked.at_system_calls = request.at_system_call;
  const bool is_spared = asked.skip_kernel_work && request.in_bursts;
  asked.stack_bytes = asked.user && !is_spared ? asked.stack_bytes : 0;
  if (!request.on_user_code) {
    asked.stack_bytes = std::min(asked.stack_bytes, asked.max_stack_bytes_except_probes);
  }
  return asked;
}

// A tracepoint's fields. For other events the address, and a mark that distinguishes software
// events.
void ask_for_data(perf_event_attr& attr,
                  const EventRequest& request,
                  const AttrFeatures& features) {
  if (request.info.kind == EventKind::Tracepoint) {
    attr.sample_type |= PERF_SAMPLE_RAW;
    return;
  }
  attr.sample_type |= PERF_SAMPLE_ADDR;
  const bool wants_address = request.physical_address && features.physical_address;
  attr.sample_type |= wants_address ? kSamplePhysicalAddress : 0;
  if (request.info.kind == EventKind::Software && features.identifier) {
    attr.sample_type |= mark_of(request.info.config);
  }
}

perf_event_attr make_attr(const EventRequest& request, const AttrContext& context) {
  perf_event_attr attr{};
  attr.type = request.type;
  attr.size = context.features.attr_bytes;
  attr.config = request.shared ? request.shared->tracepoint_id : request.info.config;
  attr.sample_period = request.count_only ? 0 : request.info.period;
  attr.sample_type = common_sample(context.features);
  attr.read_format = PERF_FORMAT_ID | (context.features.format_lost ? kReadFormatLost : 0);
  attr.disabled = 1;
  attr.inherit = context.inherit ? 1 : 0;
  attr.enable_on_exec = context.enable_on_exec && !request.starts_disabled ? 1 : 0;
  attr.sample_id_all = context.features.sample_id_all ? 1 : 0;
  attr.watermark = 1;
  attr.wakeup_watermark = context.wakeup_bytes;
  if (context.features.clock_id) {
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
  }
  if (request.info.is_tracking) {
    ask_for_tracking(attr, context);
    return attr;
  }
  ask_for_data(attr, request, context.features);
  ask_for_stacks(attr, call_graph_of(request, context.call_graph), context.features);
  if (request.pmu_probe) {
    ask_for_probe(attr, *request.pmu_probe);
  }
  if (request.watchpoint) {
    attr.bp_type = request.watchpoint->access;
    attr.bp_addr = request.watchpoint->address;
    attr.bp_len = request.watchpoint->bytes;
  }
  return attr;
}

EventRequest tracking_request(const AttrFeatures& features) {
  return {.info = {.name = "dummy",
                   .kind = EventKind::Software,
                   .config = std::uint64_t{features.dummy ? PERF_COUNT_SW_DUMMY
                                                          : PERF_COUNT_SW_EMULATION_FAULTS},
                   .is_tracking = true},
          .type = PERF_TYPE_SOFTWARE};
}

perf_event_attr file_attr(perf_event_attr attr, const EventRequest& request) {
  if (request.info.window_share > 1) {
    attr.config1 = request.info.window_share;
    attr.config2 = request.info.cycle_ns;
  }
  if (request.shared) {
    attr.config = request.info.config;
  }
  if (request.pmu_probe) {
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.config = request.info.config;
    attr.config1 = 0;
    attr.config2 = 0;
  }
  if ((attr.sample_type & PERF_SAMPLE_STACK_USER) != 0) {
    attr.exclude_callchain_user = 0;  // it will be there
  }
  attr.sample_type &= ~static_cast<std::uint64_t>(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
  attr.sample_regs_user = 0;
  attr.sample_stack_user = 0;
  return attr;
}

}  // namespace memtrace
