// Ranges of addresses that programs mapped while recording and have not unmapped, each with the row
// that it belongs to.
#pragma once

#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/interval_map.h"
#include "views/kit/keys.h"

namespace memtrace {

class MappedRanges {
 public:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
  };

  // The ranges of one process: those of an earlier process with its pid, or before its execve(2),
  // are dropped.
  struct Owner {
    std::uint32_t pid = 0;
    std::uint64_t serial = 0;  // Process::serial
  };

  void map(Owner owner, Range range, const KeyWords& row, std::uint64_t time_ns);

  // Keeps what was mapped since the call began: it is another thread's new mapping.
  void unmap(Owner owner, Range range, std::uint64_t begun_ns);

  // mremap(2): what is known of `from` goes on at `to`; what `to` has more is the row's.
  struct Move {
    Range from;
    Range to;
    bool keep_old = false;
    std::uint64_t begun_ns = 0;
    std::uint64_t time_ns = 0;
  };

  void move(Owner owner, const Move& move, const KeyWords& row);

  // For each range: visit(row, bytes, whether its process has ended). Those of ended processes are
  // reported once and forgotten.
  template <typename Visitor>
  void tell(const ProcessTable& processes, Visitor visit) {
    for (auto next = processes_.begin(); next != processes_.end();) {
      const bool ended = has_ended(processes, next->first, next->second.serial);
      for (const auto& [start, entry] : next->second.ranges.entries()) {
        visit(entry.value.row, entry.limit - entry.start, ended);
      }
      next = ended ? processes_.erase(next) : std::next(next);
    }
  }

 private:
  struct Mapped {
    KeyWords row;
    std::uint64_t time_ns = 0;
  };

  using Ranges = IntervalMap<Mapped>;

  struct Space {
    std::uint64_t serial = 0;
    Ranges ranges;
  };

  static bool has_ended(const ProcessTable& processes, std::uint32_t pid, std::uint64_t serial);
  Ranges& ranges_of(Owner owner);
  static std::vector<Ranges::Entry> within(const Ranges& ranges, Range range);
  static void take(Ranges& ranges, Range range, std::uint64_t begun_ns);

  std::unordered_map<std::uint32_t, Space> processes_;  // by pid
};

}  // namespace memtrace
