#include "decode/event_decoder.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/kernel_address.h"
#include "base/text.h"
#include "sections/recording_facts.h"
#include "state/mapping/map_flags.h"
#include "symbolize/names/demangle.h"
#include "tracepoints/decode/arena.h"
#include "tracepoints/decode/heap.h"
#include "tracepoints/decode/system_calls.h"
#include "tracepoints/format/format.h"

namespace memtrace {
namespace {

ModuleKind kind_of(std::string_view path) {
  if (path == "[vdso]") {
    return ModuleKind::Vdso;
  }
  // Not files though their names look so: "//anon", "/memfd:x", "/dev/zero", "/SYSV0000",
  // "/anon_hugepage (deleted)".
  constexpr auto kNoFiles = std::to_array<std::string_view>(
      {"//", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage", "["});
  const auto begins = [path](std::string_view start) { return path.starts_with(start); };
  const bool no_file = path.empty() || std::any_of(kNoFiles.begin(), kNoFiles.end(), begins);
  return no_file ? ModuleKind::Anonymous : ModuleKind::File;
}

// A clock's period is nanoseconds (perf_swevent_init_hrtimer() in kernel/events/core.c), not hits.
std::uint64_t weight_of(const EventInfo& event, const Sample& sample) {
  return event.is_clock ? 1 : std::max<std::uint64_t>(sample.period, 1);
}

Sampling sampling_of(const EventInfo& event, std::uint64_t time_ns) {
  return event.cycle_ns == 0
             ? Sampling()
             : Sampling{.window_share = static_cast<std::uint32_t>(event.window_share),
                        .window = static_cast<std::uint32_t>(time_ns / event.cycle_ns)};
}

// 5.10 with PREEMPT_RT puts a tracepoint's own place into the chain twice. What called it cannot be
// at the same address: behind it stands the tracepoint, and a caller stands behind a call.
std::span<const std::uint64_t> without_double(const EventInfo& event, const Sample& sample) {
  const auto chain = sample.callchain;
  const std::size_t start = !chain.empty() && chain.front() == kContextKernel ? 1 : 0;
  const bool is_double = event.kind == EventKind::Tracepoint && chain.size() >= start + 2 &&
                         chain[start] == sample.ip && chain[start + 1] == sample.ip &&
                         sample.ip >= kFirstKernelAddress;
  return is_double ? chain.subspan(start + 1) : chain;
}

}  // namespace

std::optional<Event> EventDecoder::apply(const Record& record) {
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    return apply_sample(record.stamp, *sample);
  }
  if (const auto* mmap = std::get_if<Mmap>(&record.payload)) {
    apply_mmap(record.stamp, *mmap);
  } else if (const auto* comm = std::get_if<Comm>(&record.payload)) {
    apply_comm(*comm);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    world_.fork({.pid = fork->pid,
                 .parent_pid = fork->parent_pid,
                 .tid = fork->tid,
                 .parent_tid = fork->parent_tid});
  } else if (const auto* exit = std::get_if<Exit>(&record.payload)) {
    world_.exit(exit->pid, exit->tid);
  }
  return std::nullopt;
}

void EventDecoder::announce(const Stamp& stamp, const Mmap& mmap) {
  const bool has_path = !mmap.path.empty() && mmap.path != "//anon";
  const StringId path = has_path ? world_.strings().intern(mmap.path) : StringId{};
  // Before MMAP2 a record does not have the protection.
  const std::uint32_t protection =
      mmap.prot != 0 || !mmap.executable ? mmap.prot : static_cast<std::uint32_t>(kProtectExecute);
  world_.announce({.pid = mmap.pid,
                   .tid = mmap.tid,
                   .time_ns = stamp.time_ns,
                   .range = {mmap.start, mmap.start + mmap.length_bytes},
                   .file_offset = mmap.file_offset,
                   .area = {.kind = area_kind(mmap.path, mmap.flags),
                            .path = path,
                            .major = mmap.major,
                            .minor = mmap.minor,
                            .inode = mmap.inode,
                            .protection = protection,
                            .flags = mmap.flags}});
}

void EventDecoder::apply_mmap(const Stamp& stamp, const Mmap& mmap) {
  constexpr std::string_view kKernelName = "[kernel.kallsyms]";
  if (mmap.pid == kKernelPid && mmap.path.starts_with(kKernelName)) {
    // perf puts the address of the symbol behind the name where the file offset belongs.
    world_.note_kernel_place(
        {.symbol = std::string(mmap.path.substr(kKernelName.size())), .avma = mmap.file_offset});
  }
  if (mmap.pid == kKernelPid || mmap.mode == CpuMode::Kernel) {
    return;
  }
  guess_exec(mmap);
  if (world_.tracks_mappings()) {
    announce(stamp, mmap);
  }
  if (!mmap.executable) {
    return;
  }
  world_.map({.pid = mmap.pid,
              .range = {mmap.start, mmap.start + mmap.length_bytes},
              .file_offset = mmap.file_offset,
              .module = {.kind = kind_of(mmap.path),
                         .path = std::string(mmap.path),
                         .build_id = to_hex(mmap.build_id),
                         .pid = mmap.pid,
                         .root = machine_.root_of ? machine_.root_of(mmap.pid, stamp.time_ns) : "",
                         .major = mmap.major,
                         .minor = mmap.minor,
                         .inode = mmap.inode}});
}

// Before 3.16 the record of a new name is the same for an exec and for prctl(2). An exec names the
// process after its file and maps that file next; an interpreter's script goes unnoticed.
void EventDecoder::guess_exec(const Mmap& mmap) {
  const auto renamed = new_names_.find(mmap.pid);
  if (renamed == new_names_.end()) {
    return;
  }
  constexpr std::size_t kNameBytes = 15;  // TASK_COMM_LEN is 16 with the NUL
  const std::string_view file = mmap.path.substr(mmap.path.rfind('/') + 1);
  if (file.substr(0, kNameBytes) == renamed->second) {
    world_.exec(mmap.pid);
  }
  new_names_.erase(renamed);
}

void EventDecoder::apply_comm(const Comm& comm) {
  if (comm.exec) {
    world_.exec(comm.pid);
  } else if (!recording_.tells_exec && comm.pid == comm.tid) {
    new_names_[comm.pid] = comm.name;
  }
  world_.processes().rename(comm.pid, comm.tid, world_.strings().intern(comm.name));
}

// A process may have samples and no record of its own, when it is known by nothing else. 0 is the
// idle task, and a task that is being reaped has no pid any more (kernel/events/core.c,
// perf_event_pid).
void EventDecoder::note_process(std::uint32_t pid) {
  if (pid != last_pid_ && pid != 0 && pid != kKernelPid) {
    last_pid_ = pid;
    world_.processes().process(pid);
  }
}

void EventDecoder::learn_events() {
  while (types_.size() < recording_.events.size()) {
    learn_event(recording_.events[types_.size()]);
    probed_callers_.learn(types_.back());
  }
}

EventInfo EventDecoder::with_format(EventInfo info) {
  if (info.kind != EventKind::Tracepoint || !info.format.empty() || info.is_counted) {
    return info;
  }
  if (machine_.complete_format && machine_.complete_format(info)) {
    caveats_.push_back("the file has lost its event formats: " + info.name +
                       " is the event's name on this machine's kernel, which is right only if "
                       "the recording is of this kernel");
  }
  return info;
}

void EventDecoder::add_untyped(EventType type) {
  is_typed_.push_back(false);
  decoders_.emplace_back([](const RawSample&) { return RawPayload(); });
  types_.push_back(std::move(type));
}

void EventDecoder::learn_event(const EventInfo& recorded) {
  const EventInfo info = with_format(recorded);
  EventType type{.name = info.name, .index = static_cast<std::uint32_t>(types_.size())};
  if (is_heap_event(info.name)) {
    type.heap_function = demangle(heap_function(info.name));
    type.heap_call = heap_call_name(info.name);
  }
  type.probe = demangle(user_probe_name(info.name));
  if (recorded.is_counted) {
    add_untyped(std::move(type));
    return;
  }
  if (!info.format.empty()) {
    auto parsed = parse_format(info.format, info.name.substr(0, info.name.find(':')));
    if (parsed.ok()) {
      type.format = parsed.take();
      type.format.architecture = recording_.architecture;
    } else {
      caveats_.push_back(describe(parsed.error()));
    }
  }
  if (is_raw_entry(info.name)) {
    caveats_.push_back(
        info.name +
        " has only numbers of system calls, which have other meanings in 32-bit programs: the "
        "calls shown for such programs are wrong");
  }
  auto decoder = decoder_for(type);
  if (!decoder.ok()) {
    // Without a format the decoder does not know whose it lacks.
    const std::string whose = type.format.fields.empty() ? info.name + ": " : "";
    caveats_.push_back(whose + describe(decoder.error()) + ": its samples are only counted");
  }
  const Tracepoint* tracepoint = find_tracepoint(info.name);
  is_typed_.push_back(decoder.ok() && tracepoint != nullptr && tracepoint->bind != nullptr);
  decoders_.push_back(decoder.ok() ? decoder.take()
                                   : [](const RawSample&) { return RawPayload(); });
  types_.push_back(std::move(type));
}

// Names that a probe found (decode/probed_caches.h) become those of the allocations.
void EventDecoder::name_cache(const Event& event, RawPayload& payload) {
  if (auto* alloc = std::get_if<SlabAlloc>(&payload)) {
    alloc->cache = alloc->cache.empty() ? probed_caches_.name_of(*alloc) : alloc->cache;
  } else if (ProbedCaches::is_probe(*event.type)) {
    if (!probed_caches_.has_caches()) {
      RecordingFacts about = parse_recording_facts(recording_.about_json);
      probed_caches_.set_caches(about.slab_caches.empty() && machine_.slab_caches
                                    ? machine_.slab_caches()
                                    : std::move(about.slab_caches));
    }
    probed_caches_.learn(*event.type, event.raw);
  }
}

// As the kernel would have written it. Valid until the next call.
std::span<const std::uint64_t> EventDecoder::callchain_of(const Sample& sample) {
  return probed_callers_.complete(
      types_[sample.event], without_double(recording_.events[sample.event], sample), sample.raw);
}

StackId EventDecoder::stack_of(const Sample& sample) {
  learn_events();
  return sample.event < types_.size() ? world_.intern_stack(sample.pid, callchain_of(sample))
                                      : StackId();
}

std::optional<Event> EventDecoder::apply_sample(const Stamp& stamp, const Sample& sample) {
  std::optional<Event> made;  // where the caller has it: an event is large
  learn_events();
  if (sample.event >= types_.size()) {
    ++malformed_;
    return made;
  }
  note_process(sample.pid);
  Event& event = made.emplace();
  event.time_ns = stamp.time_ns;
  event.cpu = stamp.cpu;
  event.pid = sample.pid;
  event.tid = sample.tid;
  event.weight = weight_of(recording_.events[sample.event], sample);
  event.sampling = sampling_of(recording_.events[sample.event], stamp.time_ns);
  event.type = &types_[sample.event];
  event.raw = sample.raw;
  event.stack = pending_stack_.of(sample, callchain_of(sample));
  RawPayload payload = decoders_[sample.event]({.raw = sample.raw,
                                                .address = sample.address,
                                                .ip = sample.ip,
                                                .physical_address = sample.physical_address});
  if (is_typed_[sample.event] && std::holds_alternative<std::monostate>(payload)) {
    ++malformed_;  // too short for the event's fields
    made.reset();
    return made;
  }
  name_cache(event, payload);
  world_.apply(event, payload);
  return made;
}

}  // namespace memtrace
