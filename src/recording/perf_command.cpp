#include "recording/perf_command.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/shell_word.h"
#include "base/text.h"
#include "base/units.h"
#include "perf/target/fixed_addresses.h"
#include "plan/probes/watchpoint_event.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::string_view kFramePointers = " --call-graph fp";

CallGraph own_call_graph(const RecordOptions& options, const EventRequest& request) {
  return call_graph_of(request, options.live.call_graph);
}

// That of all events which have no term of their own: copied stacks only where all user stacks are
// copied, as perf that copies leaves out the user part of what follows frame pointers.
std::string call_graph_option(const RecordOptions& options) {
  std::uint32_t stack_bytes = 0;
  bool any = false;
  bool follows_frame_pointers = false;
  for (const EventRequest& request : options.selected.requests) {
    const CallGraph own = own_call_graph(options, request);
    any = any || own.any();
    follows_frame_pointers = follows_frame_pointers || (own.user && own.stack_bytes == 0);
    stack_bytes = std::max(stack_bytes, own.stack_bytes);
  }
  if (!any) {
    return "";
  }
  return stack_bytes == 0 || follows_frame_pointers
             ? std::string(kFramePointers)
             : fmt::format(" --call-graph dwarf,{}", stack_bytes);
}

// perf takes "group:event/call-graph=no/" since 4.4.
std::string call_graph_term(const EventRequest& request,
                            const CallGraph& own,
                            std::string_view call_graph) {
  const bool can_have_one = !call_graph.empty() && !request.watchpoint &&
                            request.info.name.find_first_of("*?") == std::string::npos;
  if (!can_have_one) {
    return "";
  }
  if (!own.any() && request.info.kind == EventKind::Tracepoint) {
    return "/call-graph=no/";
  }
  return own.stack_bytes != 0 && call_graph == kFramePointers
             ? fmt::format("/call-graph=dwarf,stack-size={}/", own.stack_bytes)
             : "";
}

std::string event_option(const RecordOptions& options,
                         const EventRequest& request,
                         std::string_view call_graph) {
  const std::string name = request.watchpoint ? perf_text(*request.watchpoint) : request.info.name;
  const CallGraph own = own_call_graph(options, request);
  std::string option = " -e " + shell_word(name + call_graph_term(request, own, call_graph));
  if (!request.filter.empty()) {
    option += " --filter " + shell_word(request.filter);
  }
  return option;
}

// Addresses of page faults, and mappings that are not executable.
std::string data_options(const RecordOptions& options) {
  const auto& requests = options.selected.requests;
  const bool has_software = std::ranges::any_of(requests, [](const EventRequest& request) {
    return request.info.kind == EventKind::Software;
  });
  const bool has_physical =
      std::ranges::any_of(requests, [](const EventRequest& one) { return one.physical_address; });
  return std::string(has_software || options.selected.data_mappings ? " -d" : "") +
         (has_physical ? " --phys-data" : "");
}

std::string target_words(const RecordOptions& options) {
  const Target& target = options.live.target;
  std::vector<std::string> ids;
  for (const std::uint32_t id : target.ids) {
    ids.push_back(std::to_string(id));
  }
  std::string words;
  if (target.kind == TargetKind::System) {
    words = " -a";
  } else if (target.kind != TargetKind::Command) {
    words = (target.kind == TargetKind::Processes ? " -p " : " -t ") + join(ids, ",");
  }
  if (!target.command.empty()) {
    words += " --";
    if (addresses_for(target, options.selected.requests, options.live.call_graph) ==
        Addresses::Fixed) {
      words += " setarch x86_64 -R";
    }
    for (const std::string& word : target.command) {
      words += " " + shell_word(word);
    }
  } else if (options.live.duration_ns != 0) {
    words += fmt::format(" -- sleep {:.3g}",
                         static_cast<double>(options.live.duration_ns) / kNanosecondsPerSecond);
  }
  return words;
}

std::uint64_t period_of(const RecordOptions& options) {
  std::uint64_t period = 1;
  for (const EventRequest& request : options.selected.requests) {
    period = std::max(period, request.info.period);
  }
  return period;
}

// "p:group/event PATH:OFFSET" -> "-:group/event".
std::string removal_of(const std::string& definition) {
  return "-" + definition.substr(1, definition.find(' ') - 1);
}

std::string echo(const std::string& line, const std::string& tracing_directory) {
  return "echo " + shell_word(line) + " >> " + tracing_directory + "/uprobe_events";
}

// By their own names, with perf of any age: a group of one's own came later.
void add_kernel_probes(const KernelProbes& probes, PerfCommand& command) {
  for (const KernelProbes::Planned& probe : probes.planned()) {
    const std::string named = probe.event == probe.function ? "" : probe.event + "=";
    const std::string args = probe.args.empty() ? "" : " " + probe.args;
    command.before.push_back("perf probe -a " +
                             shell_word(fmt::format("{}{}{}", named, probe.function, args)));
    command.after.push_back("perf probe -d " + std::string(kPerfProbeGroup) + ":" + probe.event);
  }
}

}  // namespace

PerfCommand perf_command_for(const RecordOptions& options, const PerfHost& host) {
  PerfCommand command;
  const std::uint64_t period = period_of(options);
  const std::string call_graph = call_graph_option(options);
  // perf samples software events by frequency unless -c is given.
  command.record = fmt::format("perf record -o {} -m {}M -c {}",
                               shell_word(options.output),
                               std::max<std::size_t>(host.ring_bytes >> 20U, 1),
                               period);
  command.record += data_options(options) + call_graph;
  std::string unseen;
  for (const EventRequest& request : options.selected.requests) {
    (request.optional ? unseen : command.record) += event_option(options, request, call_graph);
  }
  if (!unseen.empty()) {
    command.notes.push_back("add those of these events that the host's kernel has:" + unseen);
  }
  command.record += target_words(options);
  if (options.selected.probes) {
    for (const std::string& line : options.selected.probes->commands()) {
      command.before.push_back(echo(line, host.tracing_directory));
      command.after.push_back(echo(removal_of(line), host.tracing_directory));
    }
    command.notes.emplace_back(
        "programs and libraries that are loaded while perf records are not probed");
  }
  if (options.selected.kernel_probes) {
    add_kernel_probes(*options.selected.kernel_probes, command);
  }
  if (period > 1) {
    command.notes.emplace_back(
        "perf sets PERF_SAMPLE_PERIOD, with which the kernel records every hit of a tracepoint, "
        "whatever the period");
  }
  return command;
}

}  // namespace memtrace
