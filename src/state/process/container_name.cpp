#include "state/process/container_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kShownDigits = 12;

bool is_container_id(std::string_view text) {
  return text.size() == kIdDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct Runtime {
  std::string_view prefix;  // of the id, in a scope's or folder's name
  std::string_view name;
};

// How runtimes name their cgroups: runc's and crun's systemd drivers make PREFIX-ID.scope, the
// cgroupfs drivers a folder.
constexpr auto kRuntimes = std::to_array<Runtime>({
    {"docker", "docker"},
    {"libpod", "podman"},
    {"libpod-payload", "podman"},
    {"cri-containerd", "containerd"},
    {"nerdctl", "containerd"},
    {"crio", "cri-o"},
});

// Beside the container, not in it.
constexpr auto kMonitors =
    std::to_array<std::string_view>({"libpod-conmon", "crio-conmon", "conmon"});

std::string runtime_name(std::string_view prefix) {
  const auto* known = std::ranges::find(kRuntimes, prefix, &Runtime::prefix);
  return std::string(known == kRuntimes.end() ? prefix : known->name);
}

std::optional<std::string> with_id(std::string_view prefix, std::string_view id) {
  if (!is_container_id(id) || std::ranges::find(kMonitors, prefix) != kMonitors.end()) {
    return std::nullopt;
  }
  const std::string shown(id.substr(0, kShownDigits));
  return prefix.empty() ? shown : runtime_name(prefix) + ":" + shown;
}

std::string_view without(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

// "docker-ID.scope", "libpod-ID", "kubepods-x.slice:cri-containerd:ID", what containerd makes of a
// systemd path under the cgroupfs driver.
std::optional<std::string> prefixed_id(std::string_view part) {
  const std::string_view name = without(part, ".scope");
  const std::size_t at = name.find_last_of("-:");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view prefix = name.substr(0, at);
  if (name[at] == ':') {
    prefix.remove_prefix(prefix.rfind(':') + 1);
  }
  return with_id(prefix, name.substr(at + 1));
}

// "\x2d" in a unit's name is a "-" (systemd.unit(5)).
std::string unescape(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    const bool escaped = name.starts_with("\\x") && name.size() >= 4;
    const auto code = escaped ? parse_number(name.substr(2, 2), 16) : std::nullopt;
    plain += code ? static_cast<char>(*code) : name.front();
    name.remove_prefix(code ? 4 : 1);
  }
  return plain;
}

// systemd-nspawn and libvirt register theirs with systemd-machined.
std::optional<std::string> machine(std::string_view part) {
  for (const auto& [start, ending] :
       {std::pair<std::string_view, std::string_view>{"machine-", ".scope"},
        {"systemd-nspawn@", ".service"}}) {
    if (part.starts_with(start) && part.ends_with(ending)) {
      return "machine:" + unescape(without(part, ending).substr(start.size()));
    }
  }
  return std::nullopt;
}

// "lxc.payload.NAME", or NAME below "lxc" or "lxc.payload".
std::optional<std::string> lxc(std::string_view part, std::string_view parent) {
  constexpr std::string_view kPayload = "lxc.payload.";
  if (part.starts_with(kPayload)) {
    return "lxc:" + std::string(part.substr(kPayload.size()));
  }
  const bool below = parent == "lxc" || parent == "lxc.payload";
  return below ? std::optional("lxc:" + std::string(part)) : std::nullopt;
}

std::optional<std::string> container_at(const std::vector<std::string_view>& parts,
                                        std::size_t index) {
  const std::string_view part = parts[index];
  const std::string_view parent = index == 0 ? std::string_view() : parts[index - 1];
  for (auto&& found : {prefixed_id(part), machine(part), lxc(part, parent)}) {
    if (found) {
      return found;
    }
  }
  const bool in_kubernetes = std::ranges::any_of(
      parts, [](std::string_view each) { return each.starts_with("kubepods"); });
  return with_id(in_kubernetes && parent != "docker" ? "kubepods" : parent, part);
}

bool is_unit(std::string_view part) {
  return part.ends_with(".service") || part.ends_with(".scope") || part.ends_with(".slice") ||
         part.ends_with(".mount") || part.ends_with(".socket") || part.ends_with(".swap");
}

std::vector<std::string_view> parts_of(std::string_view cgroup_path) {
  std::vector<std::string_view> parts = split(cgroup_path, '/');
  std::erase(parts, std::string_view());
  return parts;
}

}  // namespace

std::string container_name(std::string_view cgroup_path) {
  const std::vector<std::string_view> parts = parts_of(cgroup_path);
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (auto container = container_at(parts, i)) {
      return *container;
    }
  }
  const auto unit = std::find_if(parts.rbegin(), parts.rend(), is_unit);
  return std::string(unit == parts.rend() ? cgroup_path : *unit);
}

// systemd puts slices into slices and other units into the innermost slice (systemd.slice(5)); what
// is below a unit is that unit's own business.
std::string unit_name(std::string_view cgroup_path) {
  std::string_view slice;
  for (const std::string_view part : parts_of(cgroup_path)) {
    if (!is_unit(part)) {
      break;
    }
    if (!part.ends_with(".slice")) {
      return std::string(part);
    }
    slice = part;
  }
  return std::string(slice);
}

}  // namespace memtrace
