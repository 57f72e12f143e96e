#include "pipeline/probe_definer.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/log.h"

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

}  // namespace

Result<ProbeDefiner> ProbeDefiner::open(ProbeKind kind) {
  ProbeDefiner definer;
  auto group = ProbeGroup::create(kind);
  if (group.ok() && !is_pmu_wanted()) {
    definer.group_.emplace(group.take());
    return definer;
  }
  auto pmu = UprobePmu::open();
  if (!pmu.ok()) {
    return group.ok() ? pmu.take_error() : group.take_error();
  }
  if (!group.ok() && kind == ProbeKind::Heap) {
    inform("tracefs cannot be used (" + describe(group.error()) +
           "): user probes are set by the kernel's uprobe PMU, in all processes of their files");
  }
  definer.pmu_.emplace(pmu.take());
  definer.group_name_ = probe_group_name(kind, ::getpid());
  definer.next_id_ = kind == ProbeKind::Heap ? kHighestHeapId : kHighestEventId;
  return definer;
}

Result<EventRequest> ProbeDefiner::define(const ProbeDefinition& definition) {
  if (!group_) {
    return define_by_pmu(definition);
  }
  auto defined = group_->define(definition);
  if (!defined.ok()) {
    return defined.take_error();
  }
  return EventRequest{.info = {.name = defined.value().name,
                               .kind = EventKind::Tracepoint,
                               .config = defined.value().id,
                               .format = defined.value().format_text},
                      .type = kTypeTracepoint,
                      .on_user_code = true};
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
      .pmu_probe = PmuProbe{.config = attr.value().config,
                            .path = attr.value().path,
                            .file_offset = attr.value().file_offset,
                            .registers = attr.value().registers,
                            .arguments = definition.args}};
}

}  // namespace memtrace
