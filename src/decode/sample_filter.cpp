#include "decode/sample_filter.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "perf/event/attr_features.h"
#include "perf/event/filter_inheritance.h"
#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {
namespace {

// That of a child's end, which every kernel has.
constexpr std::string_view kExitEvent = "sched:sched_process_exit";

bool is_filtered(const EventRequest& request) {
  return !request.filter.empty() && !request.pmu_probe;
}

bool children_are_filtered() {
  // Kernels that know clocks (4.1) are newer than those that leave children out (before 3.10, and
  // RHEL 6): they need not be tried, which takes 30 ms.
  const auto features = probe_features();
  if (!features.ok() || features.value().clock_id) {
    return true;
  }
  const auto id = TracepointFiles(mounted_tracefs_root()).event_id(std::string(kExitEvent));
  return !id.ok() ||
         filters_reach_children(id.value(), {.knows_cloexec = features.value().cloexec});
}

}  // namespace

std::optional<SampleFilter> SampleFilter::make(const std::string& expression,
                                               const EventFormat& format) {
  auto parsed = FilterExpression::parse(expression);
  if (!parsed.ok()) {
    return std::nullopt;
  }
  SampleFilter filter(parsed.take());
  for (const std::string& name : filter.expression_.fields()) {
    const Field* field = format.find(name);
    if (field == nullptr || field->kind != FieldKind::Integer) {
      return std::nullopt;
    }
    filter.fields_.push_back(*field);
    filter.are_signed_.push_back(field->is_signed);
  }
  return filter;
}

std::optional<SampleFilter> SampleFilter::of(const EventRequest& request) {
  const std::string& name = request.info.name;
  const auto format = parse_format(request.info.format, name.substr(0, name.find(':')));
  return format.ok() ? make(request.filter, format.value()) : std::nullopt;
}

bool SampleFilter::accepts(std::span<const std::byte> raw) const {
  std::vector<std::uint64_t> values;
  for (const Field& field : fields_) {
    values.push_back(field.number(raw));
  }
  return expression_.accepts(values, are_signed_);
}

void filter_children_here(const Target& target,
                          std::vector<EventRequest>& requests,
                          std::vector<std::string>& notes) {
  if (target.kind == TargetKind::System || std::ranges::none_of(requests, is_filtered) ||
      children_are_filtered()) {
    return;
  }
  std::vector<std::string> unfiltered;
  for (EventRequest& request : requests) {
    request.filter_children = is_filtered(request);
    if (request.filter_children && !SampleFilter::of(request)) {
      unfiltered.push_back(request.info.name);
    }
  }
  if (!unfiltered.empty()) {
    notes.push_back(
        "events of child processes are recorded unfiltered, because this kernel does not filter "
        "them and memtrace filters only by numbers: " +
        join(unfiltered, ", "));
  }
}

}  // namespace memtrace
