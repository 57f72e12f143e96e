#include "os/procfs.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr int kHex = 16;

// Takes the next word and the blanks before it.
std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

// "55d0c000-55d0e000": two hexadecimal numbers around a separator.
std::optional<std::array<std::uint64_t, 2>> hex_pair(std::string_view word, char separator) {
  const std::size_t at = word.find(separator);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto first = parse_number(word.substr(0, at), kHex);
  const auto second = parse_number(word.substr(at + 1), kHex);
  if (!first || !second) {
    return std::nullopt;
  }
  return std::array{*first, *second};
}

}  // namespace

std::string proc_path(std::uint32_t pid, std::string_view file) {
  std::string path = "/proc/" + std::to_string(pid);
  if (!file.empty()) {
    path += '/';
    path += file;
  }
  return path;
}

std::string proc_text(std::uint32_t pid, std::string_view file) {
  auto text = read_file(proc_path(pid, file));
  return text.ok() ? text.take() : std::string();
}

Result<std::vector<std::uint32_t>> process_ids(const std::string& folder) {
  const auto names = list_directory(folder);
  if (!names.ok()) {
    return names.error();
  }
  std::vector<std::uint32_t> pids;
  for (const std::string& name : names.value()) {
    if (const auto pid = parse_number(name)) {
      pids.push_back(static_cast<std::uint32_t>(*pid));
    }
  }
  return pids;
}

std::string root_directory(std::uint32_t pid) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(proc_path(pid, "root").c_str(), target.data(), target.size());
  return length <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<MapsLine> parse_maps_line(std::string_view line) {
  const auto range = hex_pair(next_word(line), '-');
  if (!range || (*range)[1] < (*range)[0]) {
    return std::nullopt;
  }
  const std::string_view permissions = next_word(line);
  const auto offset = parse_number(next_word(line), kHex);
  const auto device = hex_pair(next_word(line), ':');
  const auto inode = parse_number(next_word(line));
  if (permissions.size() != 4 || !offset || !device || !inode) {
    return std::nullopt;
  }
  // Blanks fill the line up to the column of the path; those behind it are part of it.
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return MapsLine{.start = (*range)[0],
                  .limit = (*range)[1],
                  .permissions = permissions,
                  .file_offset = *offset,
                  .major = static_cast<std::uint32_t>((*device)[0]),
                  .minor = static_cast<std::uint32_t>((*device)[1]),
                  .inode = *inode,
                  .path = line};
}

// Unlike in maps, the numbers have no zeros in front: newer kernels find no name that has
// (fs/proc/base.c, dname_to_vma_addr()).
std::string map_files_path(std::uint32_t pid, std::uint64_t start, std::uint64_t limit) {
  return proc_path(pid, "map_files/") + fmt::format("{:x}-{:x}", start, limit);
}

std::string without_deleted(std::string_view path) {
  path.remove_suffix(path.ends_with(kDeletedSuffix) ? kDeletedSuffix.size() : 0);
  return std::string(path);
}

// "12 (name) S 11 ...": the name may hold anything, parentheses and newlines too; no later word has
// a parenthesis.
std::optional<ProcStat> parse_stat(std::string_view text) {
  constexpr std::size_t kParent = 1;  // behind the name; field 4 of proc(5)
  constexpr std::size_t kFlags = 6;   // field 9
  const std::size_t end = text.rfind(") ");
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto words = split(text.substr(end + 2), ' ');
  const auto number = [&words](std::size_t i) {
    return i < words.size() ? parse_number(words[i]).value_or(0) : 0;
  };
  if (words[0].empty()) {
    return std::nullopt;
  }
  return ProcStat{.state = words[0].front(),
                  .parent_pid = static_cast<std::uint32_t>(number(kParent)),
                  .flags = number(kFlags)};
}

std::string_view parse_comm(std::string_view text) {
  return text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0));
}

std::string_view proc_field(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) {
      continue;
    }
    // cpuinfo fills up with tabs: "model name\t: ...".
    const std::string_view rest = trim(line.substr(name.size()));
    if (rest.starts_with(':')) {
      return trim(rest.substr(1));
    }
  }
  return {};
}

std::optional<std::uint64_t> proc_number(std::string_view text, std::string_view name) {
  const std::string_view value = proc_field(text, name);
  return parse_number(value.substr(0, value.find_first_of(" \t")));
}

std::optional<std::uint64_t> proc_bytes(std::string_view text, std::string_view name) {
  constexpr std::uint64_t kKiB = 1024;
  const auto number = proc_number(text, name);
  return number ? std::optional(*number * kKiB) : std::nullopt;
}

std::optional<std::uint64_t> available_bytes(std::string_view meminfo) {
  if (const auto available = proc_bytes(meminfo, "MemAvailable")) {
    return available;
  }
  const auto free = proc_bytes(meminfo, "MemFree");
  if (!free) {
    return std::nullopt;
  }
  const std::uint64_t cached = proc_bytes(meminfo, "Cached").value_or(0);
  const std::uint64_t shared = proc_bytes(meminfo, "Shmem").value_or(0);
  return *free + proc_bytes(meminfo, "Buffers").value_or(0) + cached - std::min(cached, shared);
}

std::vector<std::uint32_t> status_uids(std::string_view status) {
  std::vector<std::uint32_t> uids;
  for (const std::string_view word : split(proc_field(status, "Uid"), '\t')) {
    const auto uid = parse_number(word);
    if (!uid || *uid > std::numeric_limits<std::uint32_t>::max()) {
      break;
    }
    uids.push_back(static_cast<std::uint32_t>(*uid));
  }
  return uids;
}

std::vector<std::string_view> proc_words(std::string_view line) {
  auto words = split(line, ' ');
  std::erase(words, std::string_view());
  return words;
}

bool CgroupLine::has(std::string_view controller) const {
  return std::ranges::find(controllers, controller) != controllers.end();
}

std::optional<CgroupLine> parse_cgroup_line(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    return std::nullopt;
  }
  return CgroupLine{.hierarchy = parse_number(line.substr(0, first)),
                    .controllers = split(line.substr(first + 1, second - first - 1), ','),
                    .path = line.substr(second + 1)};
}

std::string parse_load_averages(std::string_view loadavg) {
  const auto words = split(loadavg, ' ');
  return words.size() < 3
             ? ""
             : std::string(words[0]) + " " + std::string(words[1]) + " " + std::string(words[2]);
}

bool is_kernel_thread(std::uint32_t pid) {
  constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h
  const auto stat = parse_stat(proc_text(pid, "stat"));
  return stat && (stat->flags & kKernelThread) != 0;
}

std::uint32_t process_without_files() {
  constexpr std::uint32_t kThreadDaemon = 2;  // kthreadd: rest_init() in init/main.c
  return is_kernel_thread(kThreadDaemon) ? kThreadDaemon : static_cast<std::uint32_t>(::getpid());
}

bool is_zombie(std::uint32_t pid) {
  const auto stat = parse_stat(proc_text(pid, "stat"));
  return stat && stat->state == 'Z';
}

}  // namespace memtrace
