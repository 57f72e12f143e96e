#include "plan/probes/kernel_probes.h"

#include <algorithm>

#include "base/text.h"
#include "observe/kernel_config.h"
#include "os/host_machine.h"
#include "os/system.h"
#include "plan/probes/uprobe_event.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {
namespace {

constexpr std::string_view kKprobeStart = "kprobe:";

// The first has only what can be probed; it is there with CONFIG_DYNAMIC_FTRACE.
std::string list_of_functions(const std::string& root) {
  auto functions = read_file(root + "/available_filter_functions");
  if (!functions.ok()) {
    functions = read_file("/proc/kallsyms");
  }
  return functions.ok() ? functions.take() : std::string();
}

// On x86-64 a call leaves it on top of the stack; other machines have it in a register.
std::string with_caller(std::string args) {
#if defined(__x86_64__)
  const std::string name = std::string(kProbedCaller) + "=";
  const bool has_one = args.starts_with(name) || args.find(" " + name) != std::string::npos;
  args += has_one ? "" : (args.empty() ? "" : " ") + name + "$stack0:u64";
#endif
  return args;
}

}  // namespace

bool is_kprobe_event(std::string_view event) {
  return event.starts_with(kKprobeStart);
}

Result<std::unique_ptr<KernelProbes>> KernelProbes::open() {
  auto root = tracefs_root();
  auto group = ProbeGroup::create(ProbeKind::Kernel);
  if (!root.ok() || !group.ok()) {
    Error error = root.ok() ? group.take_error() : root.take_error();
    const std::string reason = KernelConfig::of_machine().reason_against("kprobe:");
    error.hint = reason.empty() ? error.hint : reason;
    return error;
  }
  return std::make_unique<KernelProbes>(group.take(), list_of_functions(root.value()));
}

std::unique_ptr<KernelProbes> KernelProbes::plan() {
  const std::string root = mounted_tracefs_root();
  auto probes = std::make_unique<KernelProbes>(std::nullopt, list_of_functions(root));
  if (probes->functions_.empty()) {
    probes->notes_.emplace_back("the functions of this kernel cannot be listed");
  }
  if (path_exists(root + "/events/header_page") && !path_exists(root + "/kprobe_events")) {
    probes->notes_.emplace_back(
        "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): the plan is for a kernel that has "
        "them");
  }
  return probes;
}

std::optional<std::string> KernelProbes::find(std::string_view function) const {
  return !group_ && functions_.empty() ? std::string(function)
                                       : find_kernel_function(functions_, function);
}

EventRequest KernelProbes::plan(const std::string& function, const std::string& args) {
  std::vector<std::string> taken;
  for (const Planned& probe : planned_) {
    taken.push_back(probe.event);
  }
  planned_.push_back({.event = probe_event_name(function.substr(0, function.find('.')), taken),
                      .function = function,
                      .args = args});
  return {.info = {.name = std::string(kPerfProbeGroup) + ":" + planned_.back().event,
                   .kind = EventKind::Tracepoint},
          .type = kTypeTracepoint};
}

Result<EventRequest> KernelProbes::define(const std::string& function, const std::string& args) {
  if (!group_) {
    return plan(function, args);
  }
  const std::string event = function.substr(0, function.find('.'));
  auto defined = group_->define({.event = event, .args = args, .kernel_function = function});
  if (!defined.ok()) {
    return defined.take_error();
  }
  return EventRequest{.info = {.name = defined.value().name,
                               .kind = EventKind::Tracepoint,
                               .config = defined.value().id,
                               .format = defined.value().format_text},
                      .type = kTypeTracepoint};
}

Result<EventRequest> KernelProbes::add_event(const std::string& event, std::uint64_t period) {
  const std::size_t open = std::min(event.find('('), event.size());
  const std::string function = event.substr(kKprobeStart.size(), open - kKprobeStart.size());
  std::string args;
  if (open != event.size()) {
    auto parsed =
        event.ends_with(')')
            ? parse_probe_arguments(event, event.substr(open + 1, event.size() - open - 2))
            : Result<std::string>(Error{"event '" + event + "': no ')' at the end",
                                        0,
                                        "kprobe:FUNCTION(name=arg1)",
                                        ErrorKind::Usage});
    if (!parsed.ok()) {
      return parsed.take_error();
    }
    args = parsed.take();
  }
  const auto found = find(function);
  if (!found) {
    return Error{"event '" + event + "': this kernel has no function " + function,
                 0,
                 "it may have been inlined, or have another name in this kernel: "
                 "available_filter_functions in the tracing directory and /proc/kallsyms list them",
                 ErrorKind::Usage};
  }
  auto request = define(*found, with_caller(args));
  if (request.ok()) {
    request.value().info.period = period;
  }
  return request;
}

std::vector<EventRequest> KernelProbes::add_for(std::span<const std::string> views) {
  std::vector<EventRequest> requests;
  std::vector<std::string_view> done;
  for (const KernelReading& reading : kernel_readings()) {
    const bool is_wanted = std::ranges::find(views, reading.view) != views.end();
    if (is_wanted && std::ranges::find(done, reading.functions) == done.end()) {
      done.push_back(reading.functions);
      add_reading(reading, requests);
    }
  }
  return requests;
}

void KernelProbes::add_reading(const KernelReading& reading, std::vector<EventRequest>& requests) {
  std::string reason = "this kernel has no function " + std::string(reading.functions);
  for (const std::string_view function : split(reading.functions, '|')) {
    const auto found = find(function);
    if (!found) {
      continue;
    }
    auto request = define(*found, std::string(reading.args));
    if (request.ok()) {
      notes_.push_back("a kprobe on " + *found + (group_ ? " recorded " : " records ") +
                       std::string(reading.gain));
      // The probe of names is at every allocation: its stack is the tracepoint's.
      request.value().stacks = reading.args.find(kProbedSite) == std::string_view::npos;
      request.value().info.is_of_anybody = reading.is_of_anybody;
      requests.push_back(request.take());
      return;
    }
    reason = describe(request.error());
  }
  notes_.push_back("no kprobe for " + std::string(reading.view) + ": " + reason);
}

}  // namespace memtrace
