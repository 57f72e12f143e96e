#include "symbolize/perf_map.h"

#include <sys/stat.h>

#include "base/system.h"
#include "base/text.h"

namespace memtrace {

namespace {

// A JIT in a container writes its own idea of its pid into the name (perf: nsinfo), which is the
// last number of the NSpid line (Linux 4.1 and later).
std::string path_in_namespace(const std::string& pid) {
  const auto status = read_file("/proc/" + pid + "/status");
  if (!status.ok()) {
    return "";
  }
  for (const std::string_view line : split(status.value(), '\n')) {
    if (line.starts_with("NSpid:")) {
      const auto pids = split(line.substr(line.find(':') + 1), '\t');
      return "/proc/" + pid + "/root/tmp/perf-" + std::string(trim(pids.back())) + ".map";
    }
  }
  return "";
}

std::string choose_path(std::uint32_t pid) {
  const std::string number = std::to_string(pid);
  const std::string inside = path_in_namespace(number);
  if (!inside.empty() && path_exists(inside)) {
    return inside;
  }
  return "/tmp/perf-" + number + ".map";
}

}  // namespace

PerfMap PerfMap::parse(std::string_view text) {
  PerfMap map;
  for (const std::string_view line : split(text, '\n')) {
    map.add_line(line);
  }
  return map;
}

void PerfMap::add_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
  if (second == line.npos) {
    return;
  }
  const auto start = parse_number(line.substr(0, first), 16);
  const auto size_bytes = parse_number(line.substr(first + 1, second - first - 1), 16);
  const auto name = trim(line.substr(second + 1));
  if (!start || !size_bytes || name.empty() || *size_bytes > UINT64_MAX - *start) {
    return;
  }
  functions_.assign(*start, *start + *size_bytes, Function{*start, std::string(name)});
}

std::optional<PerfMap::Match> PerfMap::find(std::uint64_t avma) const {
  const auto* entry = functions_.find(avma);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return Match{entry->value.name, avma - entry->value.start};
}

PerfMapFile::PerfMapFile(std::uint32_t pid) : path_(choose_path(pid)) {}

std::optional<PerfMap::Match> PerfMapFile::find(std::uint64_t avma) {
  if (const auto match = map_.find(avma)) {
    return match;
  }
  return reload_if_changed() ? map_.find(avma) : std::nullopt;
}

bool PerfMapFile::reload_if_changed() {
  struct stat now {};

  if (::stat(path_.c_str(), &now) != 0 || !S_ISREG(now.st_mode) || now.st_size == size_bytes_) {
    return false;
  }
  const auto text = read_file(path_);
  if (!text.ok()) {
    return false;
  }
  size_bytes_ = now.st_size;
  map_ = PerfMap::parse(text.value());
  return true;
}

}  // namespace memtrace
