// Reads the memory and CPUs of each NUMA node, at the end of a recording that has the physical
// addresses of pages.
#include <optional>

#include "base/text.h"
#include "observe/proc_readers.h"
#include "os/system.h"

namespace memtrace::nodes_reader {
namespace {

// "node0" -> 0.
std::optional<std::uint64_t> number_behind(std::string_view name, std::string_view start) {
  return name.starts_with(start) ? parse_number(name.substr(start.size())) : std::nullopt;
}

std::uint64_t from_hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

// A node's memory is a list of blocks, linked to as memory0, memory1 ...
// (sysfs-devices-memory). Blocks that touch are one row.
void add_memory(std::uint64_t node,
                const std::string& folder,
                std::uint64_t block_bytes,
                Observation& observation) {
  std::set<std::uint64_t> blocks;
  const auto names = list_directory(folder);
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    if (const auto block = number_behind(name, "memory")) {
      blocks.insert(*block);
    }
  }
  Facts* last = nullptr;
  for (const std::uint64_t block : blocks) {
    if (last == nullptr || last->numbers["limit"] != block * block_bytes) {
      last = &observation.rows.emplace_back();
      last->numbers["node"] = node;
      last->numbers["start"] = block * block_bytes;
    }
    last->numbers["limit"] = (block + 1) * block_bytes;
  }
}

void add_cpus(std::uint64_t node, const ProcFolder& folder, Observation& observation) {
  for (const int cpu : parse_cpu_list(trim(folder.read("cpulist")))) {
    Facts& row = observation.rows.emplace_back();
    row.numbers["node"] = node;
    row.numbers["cpu"] = static_cast<std::uint64_t>(cpu);
  }
}

void read(const Event& /*event*/, const ProcFolder& proc, Observation& observation) {
  const ProcFolder devices{proc.path + "/../sys/devices/system"};
  const std::uint64_t block_bytes = from_hex(devices.read("memory/block_size_bytes"));
  const auto names = list_directory(devices.path + "/node");
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    if (const auto node = number_behind(name, "node")) {
      const std::string folder = devices.path + "/node/" + name;
      add_cpus(*node, ProcFolder{folder}, observation);
      add_memory(*node, folder, block_bytes, observation);
    }
  }
}

bool wants(const Event& event) {
  const auto* fault = std::get_if<PageFault>(&event.payload);
  return fault != nullptr && fault->physical_address != 0;
}

}  // namespace
}  // namespace memtrace::nodes_reader

namespace memtrace {

const ObservationReader observe_nodes{
    .name = "nodes", .wants = nodes_reader::wants, .read = nodes_reader::read, .at_end = true};

}  // namespace memtrace
