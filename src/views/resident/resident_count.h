// Joins what page faults say of the pages of processes with what /proc says is resident now:
//
//   page            resident now           not resident
//   touched         its stack's            gone: swapped out, reclaimed, discarded
//   not touched     resident before, or inherited by fork, or beside a touched page: the same fault
//                   or the kernel later mapped it too; else nobody's
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "state/world/resident_snapshot.h"
#include "state/world/world.h"

namespace memtrace {

// Pages of one FirstTouch, by its index.
struct TouchedPages {
  std::uint64_t resident = 0;  // with those beside
  std::uint64_t beside = 0;
  std::uint64_t gone = 0;
  std::uint64_t ended = 0;  // held by a process when it ended
};

class ResidentCount {
 public:
  // Of a process that runs, in bytes.
  struct Process {
    std::uint32_t pid = 0;
    std::string comm;
    std::optional<std::uint64_t> rss_begin;  // none: not asked, or it did not run
    std::uint64_t rss = 0;
    std::uint64_t by_stack = 0;  // touched, and beside
    std::uint64_t before = 0;
    std::uint64_t inherited = 0;
    std::uint64_t swap = 0;

    // Negative where pages went while /proc was read.
    std::int64_t unexplained() const {
      return static_cast<std::int64_t>(rss) -
             static_cast<std::int64_t>(by_stack + before + inherited);
    }
  };

  // As of end_ns, the time of the last record that the world knows.
  ResidentCount(const World& world, std::uint64_t end_ns);

  const std::vector<TouchedPages>& touches() const { return touches_; }

  const std::vector<Process>& processes() const { return processes_; }

  // That run and that /proc was not asked about: nobody knows what the kernel took from them.
  std::uint64_t unseen_processes() const { return unseen_processes_; }

 private:
  using Snapshots = std::map<std::uint32_t, ResidentSnapshot>;  // by pid
  using Space = FirstTouches::Space;

  static Snapshots snapshots(const World& world, std::string_view reader, std::uint64_t end_ns);
  void count_as_touched(const Space& space);
  void count(const Space& space, const ResidentSnapshot& now);
  bool count_page(const Space& space, std::uint64_t page, Process& process);
  bool was_inherited(const Space& space, std::uint64_t page) const;
  bool was_resident(std::uint32_t pid, std::uint64_t page) const;
  std::uint64_t count_beside(const Space& space,
                             std::uint32_t pid,
                             const std::vector<std::uint64_t>& pages);
  bool is_one_mapping(std::uint32_t pid, std::uint64_t page, std::uint64_t other) const;

  const World& world_;
  Snapshots before_;
  std::vector<TouchedPages> touches_;
  std::vector<Process> processes_;
  std::uint64_t unseen_processes_ = 0;
};

}  // namespace memtrace
