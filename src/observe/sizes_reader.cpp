// How large processes were when a recording of their memory ended: /proc/PID/statm.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "observe/proc_readers.h"
#include "os/system.h"

namespace memtrace {
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
  const auto names = list_directory(proc.path);
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    const auto pid = parse_number(name);
    Facts process;
    if (!pid || !add_sizes(proc.read(name + "/statm"), process)) {
      continue;
    }
    process.numbers["pid"] = *pid;
    process.texts["comm"] = trim(proc.read(name + "/comm"));
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

constinit const ObservationReader observe_sizes{
    .name = "sizes", .wants = wants, .read = read, .at_end = true};

}  // namespace memtrace
