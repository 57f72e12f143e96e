// How large processes were when a recording of their memory ended: /proc/PID/statm.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace::sizes_reader {
namespace {

// A machine may have tens of thousands, each with a file to open.
constexpr std::size_t kMaxProcesses = 5000;

// The first six words of statm, in pages (Documentation/filesystems/proc.rst); the fifth has been 0
// since Linux 2.6.
constexpr auto kWords =
    std::to_array<const char*>({"size", "resident", "shared", "text", nullptr, "data"});

bool add_sizes(std::string_view statm, Facts& process) {
  const auto words = split(statm, ' ');
  if (words.size() < kWords.size()) {
    return false;
  }
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const auto pages = parse_number(trim(words[i]));
    if (pages && kWords.at(i) != nullptr) {
      process.numbers[kWords.at(i)] = *pages * page_size_bytes();
    }
  }
  return true;
}

void read(const Event& /*event*/, const ProcFolder& proc, Observation& observation) {
  const auto pids = process_ids(proc.path);
  for (const std::uint32_t pid : pids.ok() ? pids.value() : std::vector<std::uint32_t>()) {
    const std::string folder = std::to_string(pid) + "/";
    Facts process;
    if (!add_sizes(proc.read(folder + "statm"), process)) {
      continue;
    }
    process.numbers["pid"] = pid;
    process.texts["comm"] = parse_comm(proc.read(folder + "comm"));
    observation.rows.push_back(std::move(process));
    if (observation.rows.size() == kMaxProcesses) {
      return;
    }
  }
}

bool wants(const Event& event) {
  return std::holds_alternative<RssStat>(event.payload);
}

}  // namespace
}  // namespace memtrace::sizes_reader

namespace memtrace {

constinit const ObservationReader observe_sizes{
    .name = "sizes", .wants = sizes_reader::wants, .read = sizes_reader::read, .at_end = true};

}  // namespace memtrace
