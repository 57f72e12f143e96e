#include "recording/record_plan.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "base/units.h"
#include "doctor/doctor.h"
#include "os/system.h"
#include "perf/event/attr_features.h"
#include "perf/event/ring_size.h"
#include "perf/pace/ladder.h"
#include "recording/perf_command.h"
#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr std::string_view kUsualTracingDirectory = "/sys/kernel/tracing";

// "call_site ptr bytes_req": without the fields that all events have.
std::string fields_of(const EventRequest& request) {
  const auto parsed =
      parse_format(request.info.format, request.info.name.substr(0, request.info.name.find(':')));
  std::vector<std::string> names;
  for (const Field& field : parsed.ok() ? parsed.value().fields : std::vector<Field>()) {
    if (!field.name.starts_with("common_") && !field.name.starts_with("__probe_")) {
      names.push_back(field.name);
    }
  }
  return join(names, " ");
}

std::string stacks_of(const EventRequest& request, const CallGraph& call_graph) {
  const CallGraph graph = call_graph_of(request, call_graph);
  if (!graph.any()) {
    return "no stack";
  }
  std::string text = graph.kernel ? "the kernel's stack" : "";
  if (graph.user) {
    text += text.empty() ? "the user's stack" : " and the user's";
    text += graph.stack_bytes == 0
                ? " by frame pointers"
                : fmt::format(", unwound from {} copied bytes", graph.stack_bytes);
  }
  return text;
}

std::string period_of(const EventRequest& request, bool is_paced) {
  if (is_paced && may_be_sampled(request)) {
    return fmt::format(", all or one in {}, or in windows",
                       fmt::join(std::span(kPeriods).subspan(1), ", "));
  }
  if (is_paced && may_have_windows(request)) {
    return ", all or in windows";
  }
  return request.info.period > 1 ? fmt::format(", one in {}", request.info.period) : "";
}

std::string event_lines(const EventRequest& request, const LiveSetup& live) {
  std::string text = "  " + request.info.name + ": " + stacks_of(request, live.call_graph) +
                     period_of(request, live.max_overhead > 0);
  if (!request.filter.empty()) {
    text += "\n    filter: " + request.filter;
  }
  const std::string fields = fields_of(request);
  return text + (fields.empty() ? "" : "\n    fields: " + fields) + "\n";
}

// Tasks to open events for; one where they are not known yet.
std::size_t task_count(const Target& target) {
  const bool is_known = target.kind == TargetKind::Processes || target.kind == TargetKind::Threads;
  const auto tids = is_known ? tasks_of(target) : Result<std::vector<std::int32_t>>(Error{});
  return tids.ok() ? tids.value().size() : 1;
}

std::string memory_line(const RecordOptions& options,
                        std::size_t ring_bytes,
                        std::size_t cpu_count) {
  const std::size_t tasks = task_count(options.live.target);
  const std::size_t events = options.selected.requests.size();
  const std::size_t opened =
      options.live.max_overhead > 0
          ? static_cast<std::size_t>(std::ranges::count_if(
                with_all_periods(options.selected.requests),
                [](const EventRequest& request) { return !request.is_of_windows(); }))
          : events;
  return fmt::format(
      "rings: {} of {}, {} in all\ndescriptors: {}, for {} {}{} plus mappings and names, for "
      "{} {} on {} CPUs\n",
      cpu_count,
      print_bytes(ring_bytes),
      print_bytes(ring_bytes * cpu_count),
      cpu_count * tasks * (opened + 1),
      events,
      events == 1 ? "event" : "events",
      opened > events ? fmt::format(" with up to {} periods", kPeriods.size()) : "",
      tasks,
      tasks == 1 ? "task" : "tasks",
      cpu_count);
}

// Goes on in the next line, for a shell too, before an option that would pass the 80th column.
std::string folded_command(const std::string& command) {
  constexpr std::size_t kMaxColumns = 74;  // with what stands before and behind
  std::string folded;
  std::size_t line_start = 0;
  std::size_t piece_start = 0;
  bool in_quotes = false;
  for (std::size_t at = 0; at <= command.size(); ++at) {
    const bool is_end = at == command.size();
    in_quotes = in_quotes != (!is_end && command[at] == '\'');
    if (!is_end && (in_quotes || !std::string_view{command}.substr(at).starts_with(" -"))) {
      continue;
    }
    const std::string piece = command.substr(piece_start, at - piece_start);
    if (!folded.empty() && folded.size() - line_start + piece.size() > kMaxColumns) {
      folded += " \\\n   ";
      line_start = folded.size() - 3;
    }
    folded += piece;
    piece_start = at;
  }
  return folded;
}

void add_lines(std::string& text, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return;
  }
  text += "\n" + std::string(title) + "\n";
  for (const std::string& line : lines) {
    text += "  " + line + "\n";
  }
}

std::vector<std::string> kernel_probe_lines(const KernelProbes& probes) {
  std::vector<std::string> lines;
  for (const KernelProbes::Planned& probe : probes.planned()) {
    const ProbeDefinition definition{.args = probe.args, .kernel_function = probe.function};
    lines.push_back(
        probe_command(definition, "", probe_group_name(ProbeKind::Kernel, 0) + "/" + probe.event));
  }
  return lines;
}

// What the views do without here, and what the kernel lacks.
std::vector<std::string> findings_for(const RecordOptions& options,
                                      std::span<const std::string> views) {
  std::vector<std::string> findings = options.selected.notes;
  if (!options.selected.unseen.empty()) {
    findings.push_back("the events of this kernel cannot be listed: " + options.selected.unseen);
  }
  const CanOpen can_open = local_events();
  for (const std::string& name : views) {
    const ViewDiagnosis diagnosis = diagnose(*find_view(name), can_open);
    if (diagnosis.state != ViewState::Works) {
      findings.push_back(name + ": " + std::string(name_of(diagnosis.state)) +
                         " here: " + text_of(diagnosis.findings));
    }
  }
  const auto features = probe_features();
  if (!features.ok()) {
    findings.push_back(describe(features.error()) + ": " + features.error().hint);
    return findings;
  }
  for (const AttrFeature& feature : attr_features()) {
    if (!(features.value().*feature.is_there)) {
      findings.push_back(std::string(feature.name) +
                         " is not in this kernel: " + std::string(feature.instead));
    }
  }
  return findings;
}

}  // namespace

Result<std::string> describe_plan(const RecordOptions& options,
                                  std::span<const std::string> views) {
  const auto cpus = online_cpus();
  if (!cpus.ok()) {
    return cpus.error();
  }
  const auto ring_bytes = choose_ring_bytes({.events = options.selected.requests,
                                             .attrs = {.call_graph = options.live.call_graph},
                                             .ring_bytes = options.live.ring_bytes},
                                            cpus.value().size());
  if (!ring_bytes.ok()) {
    return ring_bytes.error();
  }
  const std::string mounted = mounted_tracefs_root();
  const PerfCommand perf = perf_command_for(
      options,
      {.tracing_directory = mounted.empty() ? std::string(kUsualTracingDirectory) : mounted,
       .ring_bytes = ring_bytes.value()});
  const std::string files = options.rotation.is_wanted
                                ? rotated_name(options.output, 1) + " and files that follow it"
                                : options.output;
  std::string text = "would record " + options.target_text + " into " + files + "\n\n";
  text += "events\n";
  for (const EventRequest& request : options.selected.requests) {
    text += event_lines(request, options.live);
  }
  if (options.selected.probes) {
    add_lines(text, "user probes (for uprobe_events)", options.selected.probes->commands());
  }
  if (options.selected.kernel_probes) {
    add_lines(text,
              "probes in the kernel (for kprobe_events)",
              kernel_probe_lines(*options.selected.kernel_probes));
  }
  text += "\n" + memory_line(options, ring_bytes.value(), cpus.value().size());
  add_lines(text, "limitations on this machine", findings_for(options, views));
  std::vector<std::string> commands = perf.before;
  commands.push_back(folded_command(perf.record));
  commands.insert(commands.end(), perf.after.begin(), perf.after.end());
  for (const std::string& note : perf.notes) {
    commands.push_back("# " + note);
  }
  add_lines(text, "the same with perf, as root, for memtrace report", commands);
  return text;
}

}  // namespace memtrace
