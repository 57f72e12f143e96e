#include "observe/files/ext_mounts.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>

#include "observe/files/mounts.h"
#include "os/system.h"

namespace memtrace {
namespace {

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

ExtMounts::Points ext_mounts(std::string_view mountinfo) {
  ExtMounts::Points mounts;
  for (const Mount& mount : parse_mounts(mountinfo)) {
    if (mount.type.starts_with("ext") && mount.is_whole) {
      mounts.try_emplace({mount.device_major, mount.device_minor}, mount.path);
    }
  }
  return mounts;
}

// "mnt:[4026531841]/srv": paths in mountinfo begin at the root of the process, so that processes of
// one namespace see other paths after chroot(2) (fs/proc_namespace.c, show_mountinfo()). The number
// of a namespace that has ended may come again, as a process's may.
std::string ExtMounts::view_of(const std::string& process) const {
  const std::string folder = proc_ + "/" + process;
  const std::string name = target_of(folder + "/ns/mnt");
  return name.empty() ? process : name + target_of(folder + "/root");
}

// A descriptor of mountinfo could say when it changes (poll(2)), but it would keep the namespace of
// a container that ends, and its file systems mounted.
const ExtMounts::Points& ExtMounts::of(const std::string& process, std::uint64_t now_ns) {
  constexpr std::uint64_t kReadAgainNs = 1'000'000'000;
  constexpr std::size_t kMaxKnown = 256;
  const std::string view = view_of(process);
  const auto found = known_.find(view);
  if (found != known_.end() && now_ns - found->second.read_at_ns < kReadAgainNs) {
    return found->second.points;
  }
  if (found == known_.end() && known_.size() == kMaxKnown) {
    known_.clear();
  }
  const auto text = read_file(proc_ + "/" + process + "/mountinfo");
  Known& known = known_[view];
  known = {.points = ext_mounts(text.ok() ? text.value() : ""), .read_at_ns = now_ns};
  return known.points;
}

}  // namespace memtrace
