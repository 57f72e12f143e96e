#include "perf/event/attr_features.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "os/unique_fd.h"
#include "perf/event/event_fd.h"
#include "perf/record/perf_event_compat.h"

namespace memtrace {
namespace {

// Releases: perf_event_open(2) and the history of include/uapi/linux/perf_event.h.
constexpr auto kFeatures = std::to_array<AttrFeature>({
    {&AttrFeatures::format_lost,
     "PERF_FORMAT_LOST",
     "6.0",
     "losses are counted by PERF_RECORD_LOST",
     "this kernel does not report events lost at the very end of a recording, after its last "
     "record",
     [](perf_event_attr& attr) {
       attr.read_format = kReadFormatLost;
       return 0UL;
     }},
    {&AttrFeatures::physical_address,
     "PERF_SAMPLE_PHYS_ADDR",
     "4.13",
     "the node of a fault's page is not known",
     "",
     [](perf_event_attr& attr) {
       attr.sample_type = kSamplePhysicalAddress;
       return 0UL;
     }},
    {&AttrFeatures::clock_id,
     "use_clockid",
     "4.1",
     "times are of the kernel's perf clock",
     "times are of the kernel's perf clock, not of CLOCK_MONOTONIC",
     [](perf_event_attr& attr) {
       attr.use_clockid = 1;
       attr.clockid = CLOCK_MONOTONIC;
       return 0UL;
     }},
    {&AttrFeatures::comm_exec,
     "comm_exec",
     "3.16",
     "a new name followed by the mapping of a file of that name counts as an exec",
     "",
     [](perf_event_attr& attr) {
       attr.comm = 1;
       attr.comm_exec = 1;
       return 0UL;
     }},
    {&AttrFeatures::mmap2,
     "PERF_RECORD_MMAP2",
     "3.16",
     "PERF_RECORD_MMAP, and /proc/PID/maps for what runs already",
     "",
     [](perf_event_attr& attr) {
       attr.mmap = 1;
       attr.mmap2 = 1;
       return 0UL;
     }},
    {&AttrFeatures::cloexec,
     "PERF_FLAG_FD_CLOEXEC",
     "3.14",
     "fcntl(2) sets FD_CLOEXEC",
     "",
     [](perf_event_attr&) -> unsigned long { return PERF_FLAG_FD_CLOEXEC; }},
    {&AttrFeatures::identifier,
     "PERF_SAMPLE_IDENTIFIER",
     "3.12",
     "PERF_SAMPLE_ID, at the same place in all samples",
     "",
     [](perf_event_attr& attr) {
       attr.sample_type = PERF_SAMPLE_IDENTIFIER;
       return 0UL;
     }},
    {&AttrFeatures::dummy,
     "PERF_COUNT_SW_DUMMY",
     "3.12",
     "emulation-faults, which do not happen on x86, carry the records of mappings and names",
     "",
     [](perf_event_attr& attr) {
       attr.config = PERF_COUNT_SW_DUMMY;
       return 0UL;
     }},
    {&AttrFeatures::user_stack,
     "PERF_SAMPLE_STACK_USER",
     "3.7",
     "user stacks by frame pointers only",
     "user stacks follow frame pointers, because this kernel does not copy stacks: code built "
     "without frame pointers has cut or wrong stacks",
     [](perf_event_attr& attr) {
       attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
       attr.sample_regs_user = repair_registers();
       attr.sample_stack_user = kRepairStackBytes;
       return 0UL;
     }},
    {&AttrFeatures::callchain_parts,
     "exclude_callchain_user",
     "3.7",
     "stacks always have both their kernel part and their user part",
     "",
     [](perf_event_attr& attr) {
       attr.sample_type = PERF_SAMPLE_CALLCHAIN;
       attr.exclude_callchain_user = 1;
       return 0UL;
     }},
    {&AttrFeatures::sample_id_all,
     "sample_id_all",
     "2.6.38",
     "records of mappings, names and exits have no time",
     "on this kernel, records of mappings, names and exits have no time: what a program maps "
     "later may have no names",
     [](perf_event_attr& attr) {
       attr.sample_id_all = 1;
       attr.sample_type = PERF_SAMPLE_TIME;
       return 0UL;
     }},
    {&AttrFeatures::data_mappings,
     "mmap_data",
     "2.6.36",
     "mappings that are not executable are those of /proc at the start",
     "this kernel does not report mappings that are not executable: new ones are not known",
     [](perf_event_attr& attr) {
       attr.mmap = 1;
       attr.mmap_data = 1;
       return 0UL;
     }},
});

// Allowed to anyone at perf_event_paranoid 2, and known to every kernel that has perf events.
perf_event_attr plain_attr(std::uint32_t size_bytes) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.size = size_bytes;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  return attr;
}

// What a kernel answers that has never heard of it: ENOENT for an unknown software event, E2BIG
// when the field lies beyond its perf_event_attr, ENOSYS where the architecture lacks it.
bool is_unknown(int errno_value) {
  constexpr auto kUnknown = std::to_array<int>({EINVAL, E2BIG, ENOENT, ENOSYS, EOPNOTSUPP});
  return std::ranges::find(kUnknown, errno_value) != kUnknown.end();
}

bool is_refused(const PerfCalls& calls, const AttrFeature& feature, std::uint32_t size_bytes) {
  perf_event_attr attr = plain_attr(size_bytes);
  const unsigned long flags = feature.ask(attr);
  const UniqueFd fd(calls.open(attr, {.tid = 0}, flags));
  return !fd.valid() && is_unknown(errno);
}

// All that was found at once, as it will be asked for.
Result<> try_together(const PerfCalls& calls, const AttrFeatures& features) {
  perf_event_attr attr = make_attr(tracking_request(features), {.features = features});
  attr.exclude_kernel = 1;
  auto event = EventFd::open(
      attr, {.tid = 0}, "dummy", {.calls = &calls, .knows_cloexec = features.cloexec});
  return event.ok() ? Result<>(kDone) : event.take_error();
}

}  // namespace

std::span<const AttrFeature> attr_features() {
  return kFeatures;
}

// A larger one with something in it is refused with E2BIG, and its size put right (kernel/events/
// core.c, perf_copy_attr).
std::uint32_t kernel_attr_bytes(const PerfCalls& calls) {
  struct alignas(perf_event_attr) {
    perf_event_attr attr{};
    std::array<std::uint64_t, 32> beyond{};
  } larger;

  larger.attr.size = sizeof(larger);
  larger.beyond.back() = 1;
  const UniqueFd fd(calls.open(larger.attr, {.tid = 0}, 0));
  return !fd.valid() && errno == E2BIG ? larger.attr.size : 0;
}

Result<AttrFeatures> probe_features(const PerfCalls& calls) {
  AttrFeatures features;
  const std::uint32_t kernel_bytes = kernel_attr_bytes(calls);
  if (kernel_bytes >= PERF_ATTR_SIZE_VER0) {
    features.attr_bytes = std::min(features.attr_bytes, kernel_bytes);
  }
  const auto plain = EventFd::open(plain_attr(PERF_ATTR_SIZE_VER0),
                                   {.tid = 0},
                                   "task-clock",
                                   {.calls = &calls, .knows_cloexec = false});
  if (!plain.ok()) {
    return plain.error();
  }
  for (const AttrFeature& feature : kFeatures) {
    features.*feature.is_there = !is_refused(calls, feature, features.attr_bytes);
  }
  // perf_event_open(2) says EINVAL but not what of it all displeased it: newest first.
  Result<> opened = try_together(calls, features);
  for (const AttrFeature& feature : kFeatures) {
    if (opened.ok() || opened.error().errno_value != EINVAL) {
      break;
    }
    if (features.*feature.is_there) {
      features.*feature.is_there = false;
      opened = try_together(calls, features);
    }
  }
  return opened.ok() ? Result<AttrFeatures>(features) : opened.take_error();
}

std::vector<std::string> feature_notes(const AttrFeatures& features) {
  std::vector<std::string> notes;
  for (const AttrFeature& feature : kFeatures) {
    if (!(features.*feature.is_there) && !feature.consequence.empty()) {
      notes.emplace_back(feature.consequence);
    }
  }
  return notes;
}

TrailerShape trailer_shape(const AttrFeatures& features) {
  if (!features.sample_id_all) {
    return TrailerShape::None;
  }
  return features.identifier ? TrailerShape::IdentifierLast : TrailerShape::IdBeforeCpu;
}

}  // namespace memtrace
