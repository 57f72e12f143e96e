#include "os/own/own_memory.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kThreadStack = std::uint64_t{2} << 20U;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  return text.ok() ? text.take() : "";
}

std::optional<std::uint64_t> figure_of(const std::string& path) {
  return parse_number(trim(text_of(path)));
}

// "inactive_file 4096", of memory.stat. In version 1 the line with total_ has the groups below,
// too.
std::uint64_t inactive_file(const std::string& folder, bool is_version_2) {
  const std::string name = is_version_2 ? "inactive_file " : "total_inactive_file ";
  const std::string text = text_of(folder + "/memory.stat");
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(name)) {
      return parse_number(line.substr(name.size())).value_or(0);
    }
  }
  return 0;
}

// kNoLimit where this cgroup has none.
std::uint64_t left_in(const std::string& folder, bool is_version_2) {
  const auto limit = figure_of(folder + (is_version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
  const auto usage =
      figure_of(folder + (is_version_2 ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit || !usage) {
    return kNoLimit;
  }
  const std::uint64_t cache = std::min(*usage, inactive_file(folder, is_version_2));
  return *limit - std::min(*limit, *usage - cache);
}

struct Hierarchy {
  std::string folder;
  std::string path;
  bool is_version_2 = false;
};

// Where the memory controller has this process: in a hierarchy of its own, or in that of version 2.
Hierarchy hierarchy_of(const std::string& root) {
  Hierarchy unified{.folder = root + "/sys/fs/cgroup", .is_version_2 = true};
  const std::string text = text_of(root + "/proc/self/cgroup");
  for (const std::string_view row : split(text, '\n')) {
    const auto line = parse_cgroup_line(row);
    if (line && line->has("memory")) {
      return {.folder = root + "/sys/fs/cgroup/memory", .path = std::string(line->path)};
    }
    if (line && line->has("")) {
      unified.path = line->path;
    }
  }
  return unified;
}

// The least of the cgroup and those that it is in. A container may see its own as the root.
std::uint64_t left_in_cgroups(const std::string& root) {
  const Hierarchy found = hierarchy_of(root);
  std::uint64_t left = left_in(found.folder, found.is_version_2);
  for (std::string path = found.path; path.size() > 1; path.resize(path.find_last_of('/'))) {
    left = std::min(left, left_in(found.folder + path, found.is_version_2));
  }
  return left;
}

// The figures of /proc/self/statm (proc(5)), in pages.
struct Statm {
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  std::uint64_t data = 0;  // and stacks: all that can be written and is private
};

Statm read_statm() {
  const std::string text = text_of("/proc/self/statm");
  const auto words = proc_words(trim(text));
  const auto number = [&words](std::size_t at) {
    return at < words.size() ? parse_number(words[at]).value_or(0) : 0;
  };
  return {.resident = number(1), .shared = number(2), .data = number(5)};
}

}  // namespace

std::optional<std::uint64_t> free_memory_bytes(const std::string& root) {
  const auto machine = available_bytes(text_of(root + "/proc/meminfo"));
  const std::uint64_t left = std::min(machine.value_or(kNoLimit), left_in_cgroups(root));
  return left == kNoLimit ? std::nullopt : std::optional(left);
}

std::uint64_t own_memory_bytes() {
  const Statm pages = read_statm();
  return (pages.resident - std::min(pages.resident, pages.shared)) * page_size_bytes();
}

void limit_own_memory(std::uint64_t more_bytes) {
  constexpr std::uint64_t kStacks = 6 * kThreadStack;  // hardly touched
  const std::uint64_t bytes = read_statm().data * page_size_bytes() + more_bytes + kStacks;
  pthread_attr_t attributes;
  if (::pthread_getattr_default_np(&attributes) == 0) {
    ::pthread_attr_setstacksize(&attributes, kThreadStack);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0 && bytes < limit.rlim_cur) {
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_DATA, &limit);
  }
}

}  // namespace memtrace
