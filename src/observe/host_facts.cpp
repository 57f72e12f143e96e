#include "observe/host_facts.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

std::string cpu_description() {
  const auto text = read_file("/proc/cpuinfo");
  return text.ok() ? std::string(proc_field(text.value(), "model name")) : "";
}

void take_off(std::string_view name, std::uint64_t own, VmstatCounters& counters) {
  if (const auto counter = counters.find(std::string(name)); counter != counters.end()) {
    counter->second -= std::min(counter->second, own);
  }
}

// Files that hold a number each.
void add_counters_of(const std::string& folder,
                     const std::vector<std::string>& names,
                     const std::string& prefix,
                     VmstatCounters& counters) {
  for (const std::string& name : names) {
    const auto text = read_file(fmt::format("{}/{}", folder, name));
    const auto value = text.ok() ? parse_number(trim(text.value())) : std::nullopt;
    if (value) {
      counters.emplace(fmt::format("{}/{}", prefix, name), *value);
    }
  }
}

}  // namespace

Recording read_host_facts() {
  Recording machine;
  machine.host_name = machine_name().host;
  machine.kernel_release = machine_name().kernel_release;
  machine.architecture = machine_name().architecture;
  machine.tool_version = "memtrace " MEMTRACE_VERSION;
  machine.cpus_available = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF));
  machine.cpus_online = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));

  machine.cpu_description = cpu_description();

  struct sysinfo info {};

  ::sysinfo(&info);
  machine.total_memory_bytes = std::uint64_t{info.totalram} * info.mem_unit;
  machine.page_size_bytes = static_cast<std::uint32_t>(page_size_bytes());
  return machine;
}

std::vector<std::string> migratetype_names() {
  const auto text = read_file("/proc/pagetypeinfo");
  return text.ok() ? parse_migratetypes(text.value()) : std::vector<std::string>();
}

std::vector<std::string> parse_migratetypes(std::string_view pagetypeinfo) {
  // "Node    0, zone      DMA, type    Unmovable      0 ..." lists the types in their order.
  std::vector<std::string> names;
  for (const std::string_view line : split(pagetypeinfo, '\n')) {
    const std::size_t at = line.find(", type ");
    if (!line.starts_with("Node") || at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = trim(line.substr(at + 7));
    std::string name(rest.substr(0, rest.find(' ')));
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      break;  // the next zone begins
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::uint32_t> cpu_nodes() {
  constexpr std::string_view kFolder = "/sys/devices/system/node";
  constexpr std::string_view kNode = "node";
  const auto names = list_directory(std::string(kFolder));
  if (!names.ok()) {
    // A kernel without CONFIG_NUMA has one node and no such folder (drivers/base/node.c).
    return std::vector<std::uint32_t>(
        static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
  }
  std::vector<std::uint32_t> nodes;
  for (const std::string& name : names.value()) {
    const auto node =
        name.starts_with(kNode) ? parse_number(name.substr(kNode.size())) : std::nullopt;
    const auto cpus = read_file(fmt::format("{}/{}/cpulist", kFolder, name));
    if (!node || !cpus.ok()) {
      continue;
    }
    for (const int cpu : parse_cpu_list(cpus.value())) {
      const auto index = static_cast<std::size_t>(cpu);
      nodes.resize(std::max(nodes.size(), index + 1));
      nodes[index] = static_cast<std::uint32_t>(*node);
    }
  }
  return nodes;
}

std::map<std::string, std::uint64_t> slab_caches() {
  const auto text = read_file("/proc/slabinfo");
  return text.ok() ? parse_slabinfo(text.value()) : std::map<std::string, std::uint64_t>();
}

std::map<std::string, std::uint64_t> parse_slabinfo(std::string_view slabinfo) {
  // "dentry  1234  2345  192  21  1 : tunables ..." below two lines that explain (slabinfo(5)).
  std::map<std::string, std::uint64_t> caches;
  for (const std::string_view line : split(slabinfo, '\n')) {
    const auto words = proc_words(line);
    const auto bytes = words.size() > 3 ? parse_number(words[3]) : std::nullopt;
    if (bytes && *bytes > 0) {
      caches.emplace(words[0], *bytes);
    }
  }
  return caches;
}

VmstatCounters vmstat_counters() {
  const auto text = read_file("/proc/vmstat");
  VmstatCounters counters = text.ok() ? parse_vmstat(text.value()) : VmstatCounters();
  const auto io = read_file("/proc/self/io");
  take_off_dirtied(io.ok() ? io.value() : std::string(), page_size_bytes(), counters);

  struct rusage own {};

  ::getrusage(RUSAGE_SELF, &own);
  take_off_faults(static_cast<std::uint64_t>(own.ru_minflt),
                  static_cast<std::uint64_t>(own.ru_majflt),
                  counters);
  add_folio_counters("/sys/kernel/mm/transparent_hugepage", counters);
  return counters;
}

void add_folio_counters(const std::string& folder, VmstatCounters& counters) {
  const auto sizes = list_directory(folder);
  if (!sizes.ok()) {
    return;
  }
  for (const std::string& size : sizes.value()) {
    const std::string stats = fmt::format("{}/{}/stats", folder, size);
    const auto names = list_directory(stats);  // other files there have no such folder
    if (names.ok()) {
      add_counters_of(stats, names.value(), size, counters);
    }
  }
}

VmstatCounters parse_vmstat(std::string_view vmstat) {
  VmstatCounters counters;
  for (const std::string_view line : split(vmstat, '\n')) {
    const std::size_t space = line.find(' ');
    const auto value =
        space == std::string_view::npos ? std::nullopt : parse_number(line.substr(space + 1));
    if (value) {
      counters.emplace(line.substr(0, space), *value);
    }
  }
  return counters;
}

void take_off_dirtied(std::string_view io, std::uint64_t page_bytes, VmstatCounters& counters) {
  constexpr std::string_view kWritten = "write_bytes: ";
  for (const std::string_view line : split(io, '\n')) {
    const auto bytes =
        line.starts_with(kWritten) ? parse_number(line.substr(kWritten.size())) : std::nullopt;
    take_off("nr_dirtied", bytes.value_or(0) / page_bytes, counters);
  }
}

void take_off_faults(std::uint64_t minor, std::uint64_t major, VmstatCounters& counters) {
  take_off("pgfault", minor + major, counters);
  take_off("pgmajfault", major, counters);
}

VmstatCounters growth_of(const VmstatCounters& before, const VmstatCounters& now) {
  VmstatCounters growth;
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old != before.end() && value > old->second) {
      growth.emplace(name, value - old->second);
    }
  }
  return growth;
}

}  // namespace memtrace
