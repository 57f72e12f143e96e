#include "observe/kernel_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/gzip.h"
#include "os/system.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/probe/kernel_functions.h"

namespace memtrace {
namespace {

// The options of all events, of tracepoints and of kprobes (kernel/trace/Kconfig).
constexpr std::string_view kEventsOption = "CONFIG_PERF_EVENTS";
constexpr std::string_view kTracepointsOption = "CONFIG_EVENT_TRACING";
constexpr std::string_view kKprobesOption = "CONFIG_KPROBE_EVENTS";
constexpr std::string_view kKprobe = "kprobe:";

// What options were called before they were renamed, in 4.11 and 3.6.
constexpr auto kFormerNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"CONFIG_KPROBE_EVENTS", "CONFIG_KPROBE_EVENT"},
    {"CONFIG_UPROBE_EVENTS", "CONFIG_UPROBE_EVENT"},
    {"CONFIG_MEMCG", "CONFIG_CGROUP_MEM_RES_CTLR"},
});

bool is_set(std::string_view option, std::string_view text) {
  const std::string line = "\n" + std::string(option) + "=";
  const std::size_t at = text.find(line);
  const char value = at == std::string_view::npos ? 'n' : text[at + line.size()];
  return value == 'y' || value == 'm';
}

std::span<const Tracepoint> events_of(const EventGroup& group) {
  return group.events == nullptr ? std::span<const Tracepoint>() : group.events();
}

// All that some event depends on, in the order of the catalogue; what all events need comes last.
std::vector<std::string_view> all_options() {
  std::vector<std::string_view> options = {kKprobesOption};
  for (const EventGroup& group : event_groups()) {
    options.push_back(group.option);
    for (const Tracepoint& event : events_of(group)) {
      options.push_back(event.option);
    }
  }
  for (const KernelReading& reading : kernel_readings()) {
    options.push_back(reading.option);
  }
  options.push_back(kTracepointsOption);
  options.push_back(kEventsOption);
  std::erase(options, "");
  return options;
}

// What one event depends on, the option that says most first.
std::vector<std::string_view> options_of(std::string_view event) {
  if (event.find(':') == std::string_view::npos) {
    return {kEventsOption};
  }
  std::vector<std::string_view> options;
  if (event.starts_with(kKprobe)) {
    options.push_back(kKprobesOption);
    for (const KernelReading& reading : kernel_readings()) {
      const bool is_read =
          reading.functions.find(event.substr(kKprobe.size())) != std::string_view::npos;
      options.push_back(is_read ? reading.option : "");
    }
  }
  if (const Tracepoint* tracepoint = find_tracepoint(event)) {
    options.push_back(tracepoint->option);
  }
  for (const EventGroup& group : event_groups()) {
    options.push_back(group.name == event.substr(0, event.find(':')) ? group.option : "");
  }
  options.push_back(kTracepointsOption);
  options.push_back(kEventsOption);
  std::erase(options, "");
  return options;
}

}  // namespace

KernelConfig KernelConfig::read(std::span<const std::string> paths) {
  KernelConfig config;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (text.ok() && path.ends_with(".gz")) {
      text = gunzip(text.value());
    }
    if (text.ok() && !text.value().empty()) {
      config.text_ = "\n" + text.take();
      config.path_ = path;
      break;
    }
  }
  return config;
}

// The kernel's own (CONFIG_IKCONFIG_PROC), then where distributions put it.
KernelConfig KernelConfig::of_machine() {
  const std::string& release = machine_name().kernel_release;
  return read(std::array<std::string, 4>{"/proc/config.gz",
                                         "/boot/config-" + release,
                                         "/lib/modules/" + release + "/config",
                                         "/usr/lib/modules/" + release + "/config"});
}

bool KernelConfig::has(std::string_view option) const {
  return is_set(option, text_) || std::ranges::any_of(kFormerNames, [&](const auto& names) {
           return names.first == option && is_set(names.second, text_);
         });
}

std::vector<std::string> KernelConfig::lacking() const {
  std::vector<std::string> options;
  for (const std::string_view option : all_options()) {
    if (lacks(option) && std::ranges::find(options, option) == options.end()) {
      options.emplace_back(option);
    }
  }
  return options;
}

std::string KernelConfig::reason_against(std::string_view event) const {
  for (const std::string_view option : options_of(event)) {
    if (lacks(option)) {
      return "this kernel was built without " + std::string(option);
    }
  }
  return "";
}

}  // namespace memtrace
