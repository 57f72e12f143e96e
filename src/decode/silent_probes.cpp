#include "decode/silent_probes.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <map>

namespace memtrace {

bool is_on_tmpfs(const std::string& path) {
  struct statfs file_system {};

  return ::statfs(path.c_str(), &file_system) == 0 && file_system.f_type == TMPFS_MAGIC;
}

std::vector<std::string> SilentProbes::notes(
    const std::vector<OpenedEvent>& events,
    const std::function<bool(const std::string&)>& is_affected) const {
  std::map<std::string, bool> fired;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const std::string& file = events[i].request.probed_file; !file.empty()) {
      fired[file] = fired[file] || (i < seen_.size() && seen_[i]);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [file, has_fired] : fired) {
    if (!has_fired && is_affected(file)) {
      notes.push_back("no probe in " + file +
                      " was hit; it is on a tmpfs, where probes do not work before Linux 4.4 and "
                      "on RHEL 7: copy it to a disk if it should have been called");
    }
  }
  return notes;
}

}  // namespace memtrace
