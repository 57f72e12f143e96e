#include "identity/taken_events.h"

#include "base/text.h"
#include "base/units.h"

namespace memtrace {

void TakenEvents::see(const Record& record) {
  if (const auto* comm = std::get_if<Comm>(&record.payload)) {
    if (comm->exec) {
      executing_[comm->pid] = comm->name;
    }
  } else if (executing_.empty()) {
    return;
  } else if (const auto* mmap = std::get_if<Mmap>(&record.payload)) {
    executing_.erase(mmap->pid);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    executing_.erase(fork->pid);
  } else if (const auto* exit = std::get_if<Exit>(&record.payload);
             exit && exit->pid == exit->tid) {
    if (const auto found = executing_.extract(exit->pid)) {
      ++taken_[found.mapped()];
    }
  }
}

std::vector<std::string> TakenEvents::notes() const {
  constexpr std::size_t kMaxNames = 5;
  std::uint64_t count = 0;
  std::vector<std::string> names;
  for (const auto& [name, times] : taken_) {
    count += times;
    if (names.size() < kMaxNames) {
      names.push_back(name);
    }
  }
  if (count == 0) {
    return {};
  }
  const std::string more = taken_.size() > kMaxNames ? ", ..." : "";
  return {"the kernel ended the recording of " +
          counted(count,
                  "process when it executed a set-user-ID or set-group-ID program, one with "
                  "capabilities or one that it may not read (",
                  "processes when they executed a set-user-ID or set-group-ID program, one with "
                  "capabilities or one that they may not read (") +
          join(names, ", ") + more +
          "): their later events are missing; -a records the whole machine, and --comm selects "
          "them"};
}

}  // namespace memtrace
