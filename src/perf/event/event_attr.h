// What memtrace wants of an event, and the perf_event_attr that says so to this kernel.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "perf/event/attr_features.h"
#include "perf/record/recording.h"

namespace memtrace {

// The stacks that the kernel puts into each sample.
struct CallGraph {
  bool kernel = true;
  bool user = true;
  // Sample the user's ip and sp and the top of the stack too, so that the caller that a
  // frame-pointer chain loses at a function's entry can be put back.
  bool repair = false;
  // Not 0: instead of following frame pointers, sample the registers that unwinding needs and copy
  // this many bytes of the user stack, which memtrace unwinds. A multiple of 8, at most 65528.
  std::uint32_t stack_bytes = 0;
  // The kernel's own work (EventRequest::in_bursts) keeps frame pointer stacks.
  bool skip_kernel_work = false;
  // The limit for all events except probes, because the rings have no room for more.
  std::uint32_t max_stack_bytes_except_probes = 65528;
  // The copied stacks begin where a function is called or returns.
  bool at_calls = false;
  bool at_system_calls = false;  // PERF_SAMPLE_IP may be the kernel's

  bool any() const { return kernel || user; }
};

// As much of each user stack as perf record copies.
inline constexpr std::uint32_t kDefaultStackBytes = 8192;

// PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT and PERF_TYPE_BREAKPOINT.
inline constexpr std::uint32_t kTypeSoftware = 1;
inline constexpr std::uint32_t kTypeTracepoint = 2;
inline constexpr std::uint32_t kTypeBreakpoint = 5;

// A user probe whose arguments the kernel does not fetch: what it is asked for, while EventInfo
// describes the tracepoint that tracefs would have made of the probe. By the uprobe PMU; or, where
// uprobe_events takes no arguments at all, by a tracepoint without them.
struct PmuProbe {
  std::uint64_t config = 0;
  std::shared_ptr<const std::string> path;  // config1 points to it; null: it is a tracepoint
  std::uint64_t file_offset = 0;            // config2
  std::uint64_t registers = 0;              // a mask as for PERF_SAMPLE_REGS_USER
  std::string arguments;                    // to be read from them, as for uprobe_events

  bool is_of_pmu() const { return path != nullptr; }
};

// A hardware breakpoint (include/uapi/linux/hw_breakpoint.h).
struct Watchpoint {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   // HW_BREAKPOINT_LEN_*
  std::uint32_t access = 0;  // HW_BREAKPOINT_R, _W, _RW or _X
};

// The field of a shared event that says whose a sample is.
inline constexpr std::string_view kSharedNumberField = "probe_number";

// A probe that shares the kernel's event with others: a number in the raw data says which probe a
// sample belongs to. What the kernel does for an event, such as waiting when its last descriptor is
// closed, it does once for all of them (several probes of one event: uprobe_events since 5.4).
struct SharedProbe {
  std::uint64_t tracepoint_id = 0;  // the kernel's; EventInfo::config is one that we made up
  std::uint32_t number = 0;
  std::uint32_t number_offset = 0;  // of the u32 in the raw data
  // What the kernel calls a field, for its filters: "size" may be "arg_0".
  std::map<std::string, std::string> fields = {};
};

// What passes both; "" passes all.
std::string both_filters(const std::string& first, const std::string& second);

// One event to be opened on every ring.
struct EventRequest {
  EventInfo info;                // name, kind, config, period, format
  std::uint32_t type = 0;        // PERF_TYPE_*, or a dynamic PMU's number
  std::string filter;            // for PERF_EVENT_IOC_SET_FILTER; "" = none
  bool filter_children = false;  // to be tested here again: the kernel leaves children out
  bool stacks = true;      // false: no callchain, registers or stack bytes, whatever CallGraph says
  bool user_stack = true;  // false: the kernel's part of the stack is enough
  bool on_user_code = false;  // a probe
  bool at_system_call = false;
  // The kernel's own work, such as kmem:*: it comes by the hundred thousand a second, and two CPUs
  // copy no more than that of 8 KiB each.
  bool in_bursts = false;
  std::string probed_file = {};  // of a probe
  // For page faults: the page's physical address, PERF_SAMPLE_PHYS_ADDR (Linux 4.13).
  bool physical_address = false;
  std::optional<PmuProbe> pmu_probe = {};
  std::optional<SharedProbe> shared = {};
  std::optional<Watchpoint> watchpoint = {};
  bool with_tracking = false;  // enabled as early as mmap records, before /proc is read
  // The kernel adds up how often it happens, and makes no samples of it.
  bool count_only = false;
  bool optional = false;        // one of a pattern: left out where it cannot be opened
  bool may_be_sampled = false;  // one in N hits says as much, when N is known
  // One of several requests for the same event with different periods, all of which have this
  // number. Only one of them is enabled at a time (perf/pace/pacer.h).
  std::optional<std::uint32_t> ladder = {};
  bool starts_disabled = false;  // on a ladder: neither start() nor the command's exec enables it

  // Samples of an event on its ladder that were made in windows: it has no descriptor of its own.
  bool is_of_windows() const { return info.window_share > 1; }
};

// Its events cannot be inherited: threads and children that start later are not watched. Opened for
// all tasks they would be, and so would be all other processes, which it slows down.
inline bool is_of_uprobe_pmu(const EventRequest& request) {
  return request.pmu_probe && request.pmu_probe->is_of_pmu();
}

// What is asked for of all events, as it applies to this one.
CallGraph call_graph_of(const EventRequest& request, CallGraph asked);

struct AttrContext {
  CallGraph call_graph;
  AttrFeatures features;
  bool inherit = false;         // children too
  bool enable_on_exec = false;  // else enabled by ioctl
  bool data_mappings = false;   // mmap records of mappings that are not executable, too
  std::uint32_t wakeup_bytes = 0;
};

// All registers that unwinding may need, as a PERF_SAMPLE_REGS_USER mask.
std::uint64_t general_registers();

// Those that unwinding may need where a function is called or returns, and in its callers. The
// kernel takes some 70 ns to write one.
std::uint64_t caller_registers();

// Registers of CallGraph::repair on this architecture, as a PERF_SAMPLE_REGS_USER mask.
std::uint64_t repair_registers();

// Bytes of user stack that repair asks for: a function that has not set up its frame yet has at
// most pushed a few registers.
inline constexpr std::uint32_t kRepairStackBytes = 64;

perf_event_attr make_attr(const EventRequest& request, const AttrContext& context);

// A software event that never fires and carries mmap, comm, fork and exit records.
// On kernels without dummy events it is one that this architecture does not know either.
EventRequest tracking_request(const AttrFeatures& features = {});

// As it goes into a file: without the registers and stack bytes that repair and unwinding used up.
// A probe by the PMU is a tracepoint there. One that was watched in windows says so in config1 and
// config2, which tracepoints and software events have no use for (RecordingBuilder::add_event).
perf_event_attr file_attr(perf_event_attr attr, const EventRequest& request);

}  // namespace memtrace
