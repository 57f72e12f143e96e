// Which pages of processes are resident: /proc/PID/smaps says in which mappings any are, and
// /proc/PID/pagemap which (Documentation/admin-guide/mm/pagemap.rst). Linux 2.6.25 has both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "state/world/observations.h"
#include "state/world/resident_snapshot.h"

namespace memtrace {

class ResidentPages {
 public:
  explicit ResidentPages(std::string proc) : proc_(std::move(proc)) {}

  // What follows is recorded to show what grows: processes are looked at from now on.
  void begin(const std::set<std::uint32_t>& pids);

  bool has_begun() const { return has_begun_; }

  void want(std::uint32_t pid) {
    if (has_begun_ && pid != last_) {
      last_ = pid;
      pids_.insert(pid);
    }
  }

  // Processes are read now for the next read().
  void read_ahead();

  // A row for each process that still runs and may be looked at. Those that are gone are forgotten.
  Observation read(std::string_view reader);

  // Of all processes together: 32 GiB of address space where anything is resident, which takes
  // about a second.
  static constexpr std::uint64_t kMaxPages = std::uint64_t{8} << 20U;
  static constexpr std::size_t kMaxRuns = 500'000;  // of one process; some 3 MB of text

 private:
  std::optional<ResidentSnapshot> read_process(std::uint32_t pid, std::uint64_t& pages_left) const;

  std::string proc_;
  std::set<std::uint32_t> pids_;
  std::map<std::uint32_t, Facts> ahead_;  // by pid
  std::uint32_t last_ = 0;
  std::uint64_t zero_frame_ = 0;
  bool has_begun_ = false;
};

}  // namespace memtrace
