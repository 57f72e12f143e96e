#include "plan/probes/probe_definer.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "perf/event/event_set.h"

namespace memtrace {
namespace {

// common_type has 16 bits, and perf finds an event by it. The kernel gives out the lowest number
// that is free (register_trace_event(), kernel/trace/trace_output.c) and has some thousands of
// events: the highest numbers are never those of a tracepoint.
constexpr std::uint16_t kHighestHeapId = 0xFFFF;
constexpr std::uint16_t kHighestEventId = 0xEFFF;

// For tests: the PMU though tracefs could be used.
bool is_pmu_wanted() {
  const char* way = std::getenv("MEMTRACE_USER_PROBES");
  return way != nullptr && std::string_view(way) == "pmu";
}

EventRequest tracepoint_request(const DefinedProbe& probe, const std::string& path) {
  return {.info = {.name = probe.name,
                   .kind = EventKind::Tracepoint,
                   .config = probe.id,
                   .format = probe.format_text},
          .type = kTypeTracepoint,
          .on_user_code = true,
          .probed_file = path};
}

}  // namespace

Result<ProbeDefiner> ProbeDefiner::open(ProbeKind kind) {
  ProbeDefiner definer;
  auto group = ProbeGroup::create(kind);
  if (group.ok() && !is_pmu_wanted()) {
    definer.group_.emplace(group.take());
    definer.next_id_ = kind == ProbeKind::Heap ? kHighestHeapId : kHighestEventId;
    return definer;
  }
  auto pmu = UprobePmu::open();
  if (!pmu.ok() || (!group.ok() && !pmu.value().is_allowed())) {
    return group.ok() ? pmu.take_error() : group.take_error();
  }
  if (!group.ok() && kind == ProbeKind::Heap) {
    inform(
        "tracefs cannot be used (" + describe(group.error()) +
        "): user probes are set by the kernel's uprobe PMU, which follows no threads and children");
  }
  definer.pmu_.emplace(pmu.take());
  definer.group_name_ = probe_group_name(kind, ::getpid());
  definer.next_id_ = kind == ProbeKind::Heap ? kHighestHeapId : kHighestEventId;
  return definer;
}

ProbeDefiner ProbeDefiner::plan(ProbeKind kind) {
  ProbeDefiner definer;
  definer.is_plan_ = true;
  definer.group_name_ = probe_group_name(kind, 0);
  return definer;
}

bool ProbeDefiner::fetches_memory() {
  if (!fetches_memory_) {
    fetches_memory_ = is_plan_ || (group_ && group_->accepts("word=+0(%sp):u64"));
  }
  return *fetches_memory_;
}

Result<EventRequest> ProbeDefiner::define(const ProbeDefinition& definition) {
  if (is_plan_) {
    return plan(definition);
  }
  if (!group_) {
    return define_by_pmu(definition);
  }
  auto defined = group_->define(definition);
  if (!defined.ok() && defined.error().errno_value == EINVAL && !definition.args.empty()) {
    auto without = define_without_arguments(definition);
    return without.ok() ? std::move(without) : Result<EventRequest>(defined.take_error());
  }
  return defined.ok() ? tracepoint_request(defined.value(), definition.path)
                      : Result<EventRequest>(defined.error());
}

bool ProbeDefiner::can_share() {
  if (!can_share_) {
    can_share_ = !is_plan_ && group_ && group_->can_share();
  }
  return *can_share_;
}

Result<EventRequest> ProbeDefiner::define_shared(const ProbeDefinition& definition,
                                                 bool has_stack,
                                                 const std::string& filter) {
  constexpr std::uint32_t kMaxPerShare = 32;
  // The kernel takes one page of text as a filter (kernel/events/core.c, perf_event_set_filter); of
  // all processes it will hold memtrace's own name, too.
  constexpr std::size_t kMaxFilterBytes = 4000;
  // As many as tracepoints/decode/heap.h has at most.
  const ProbeSlots slots(has_stack && !definition.is_return
                             ? std::vector<std::string>{"u64", "u64", "u64", "u32", "u32"}
                             : std::vector<std::string>{"u64", "u64", "u32"});
  const auto filled = slots.fill(definition.args, 0);
  if (definition.ref_ctr_offset != 0 || !filled || !can_share()) {
    return define(definition);
  }
  const std::size_t filter_bytes =
      shared_filter_part_bytes({.number = kMaxPerShare, .fields = filled->fields}, filter);
  Share& share = shares_[{definition.is_return, has_stack}];
  if (share.count == 0 || share.count == kMaxPerShare ||
      share.filter_bytes + filter_bytes > kMaxFilterBytes) {
    share = {.slots = slots};
  }
  share.filter_bytes += filter_bytes;
  return add_to_share(share, definition);
}

Result<EventRequest> ProbeDefiner::add_to_share(Share& share, const ProbeDefinition& definition) {
  const std::uint32_t number = share.count;
  ProbeDefinition shared = definition;
  const auto filled = share.slots.fill(definition.args, number);
  shared.args = filled->args;
  if (share.count == 0) {
    shared.event = definition.is_return ? "shared_ret" : "shared";
    auto defined = group_->define(shared);
    if (!defined.ok()) {
      return defined.take_error();
    }
    const auto offset = number_offset(defined.value().format_text);
    if (!offset) {
      can_share_ = false;  // nothing would say whose a sample is
      return define(definition);
    }
    share.event = defined.take();
    share.number_offset = *offset;
  } else {
    TRY(group_->add_place(share.event, shared));
  }
  ++share.count;
  names_.push_back(probe_event_name(definition.event, names_));
  DefinedProbe own{.name = group_->name() + ":" + names_.back(), .id = next_id_--};
  own.format_text = own_format(share.event.format_text,
                               {.event = names_.back(), .id = own.id, .fields = filled->fields});
  EventRequest request = tracepoint_request(own, definition.path);
  request.shared = SharedProbe{.tracepoint_id = share.event.id,
                               .number = number,
                               .number_offset = share.number_offset,
                               .fields = filled->fields};
  return request;
}

// Where the kernel fetches none, or not from registers: perf samples registers since 3.7.
Result<EventRequest> ProbeDefiner::define_without_arguments(const ProbeDefinition& definition) {
  const auto arguments = parse_register_arguments(definition.args);
  if (!arguments.ok()) {
    return arguments.error();
  }
  ProbeDefinition bare = definition;
  bare.args.clear();
  const auto defined = group_->define(bare);
  if (!defined.ok()) {
    return defined.error();
  }
  EventRequest request = tracepoint_request(defined.value(), definition.path);
  request.info.format = synthetic_format(defined.value(), arguments.value(), definition.is_return);
  request.pmu_probe =
      PmuProbe{.registers = register_mask(arguments.value()), .arguments = definition.args};
  return request;
}

EventRequest ProbeDefiner::plan(const ProbeDefinition& definition) {
  names_.push_back(probe_event_name(definition.event, names_));
  commands_.push_back(
      probe_command(definition, definition.path, group_name_ + "/" + names_.back()));
  return tracepoint_request({.name = group_name_ + ":" + names_.back()}, definition.path);
}

Result<EventRequest> ProbeDefiner::define_by_pmu(const ProbeDefinition& definition) {
  auto attr = pmu_->attr_for(definition);
  const auto arguments = parse_register_arguments(definition.args);
  if (!attr.ok() || !arguments.ok()) {
    return attr.ok() ? arguments.error() : attr.take_error();
  }
  names_.push_back(probe_event_name(definition.event, names_));
  const DefinedProbe probe{.name = group_name_ + ":" + names_.back(), .id = next_id_--};
  return EventRequest{
      .info = {.name = probe.name,
               .kind = EventKind::Tracepoint,
               .config = probe.id,
               .format = synthetic_format(probe, arguments.value(), definition.is_return)},
      .type = attr.value().type,
      .on_user_code = true,
      .probed_file = definition.path,
      .pmu_probe = PmuProbe{.config = attr.value().config,
                            .path = attr.value().path,
                            .file_offset = attr.value().file_offset,
                            .registers = attr.value().registers,
                            .arguments = definition.args}};
}

}  // namespace memtrace
