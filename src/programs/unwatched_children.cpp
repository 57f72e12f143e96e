#include "programs/unwatched_children.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "os/procfs.h"

namespace memtrace {
namespace {

std::vector<std::uint32_t> children_of(std::uint32_t pid) {
  const auto threads = threads_of(pid);
  std::vector<std::uint32_t> children;
  const auto add = [&children](std::string_view word) {
    if (const auto child = parse_number(trim(word))) {
      children.push_back(static_cast<std::uint32_t>(*child));
    }
  };
  for (const std::uint32_t tid : threads.ok() ? threads.value() : std::vector<std::uint32_t>()) {
    const std::string text = proc_text(pid, fmt::format("task/{}/children", tid));
    std::ranges::for_each(split(text, ' '), add);
  }
  return children;
}

}  // namespace

std::string without_memory(const Target& target) {
  for (const std::uint32_t id : target.ids) {
    if (is_kernel_thread(id)) {
      return fmt::format(
          "{} is a kernel thread: it has no memory of its own, so views of programs show nothing "
          "for it; use kmalloc, slab or pages",
          id);
    }
    if (is_zombie(id)) {
      return fmt::format(
          "process {} has ended, and its parent has not waited for it yet: it will cause no "
          "events",
          id);
    }
  }
  return "";
}

std::string unwatched_children(const Target& target) {
  if (target.kind != TargetKind::Processes) {
    return "";
  }
  for (const std::uint32_t pid : target.ids) {
    auto children = children_of(pid);
    std::erase_if(children, [&target](std::uint32_t child) {
      return std::ranges::find(target.ids, child) != target.ids.end() || all_ended({child});
    });
    if (!children.empty()) {
      return fmt::format(
          "process {} already has {}, not watched: -p {},$(pgrep -d, -P {}) watches both",
          pid,
          children.size() == 1 ? "a running child"
                               : fmt::format("{} running children", children.size()),
          pid,
          pid);
    }
  }
  return "";
}

}  // namespace memtrace
