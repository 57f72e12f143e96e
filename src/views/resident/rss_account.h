// The resident size of one address space, as kmem:rss_stat counts it, and why it has changed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "tracepoints/event/event_resident.h"
#include "views/resident/rss_change.h"
#include "views/resident/rss_place.h"

namespace memtrace {

// File, Anonymous, Swap, SharedMemory: RssMember.
inline constexpr std::size_t kRssMembers = 4;

using RssMembers = std::array<std::optional<std::int64_t>, kRssMembers>;

struct RssAccount {
  // Before it is known whose the address space is, what its first value adds is not known.
  struct First {
    std::int64_t bytes = 0;
    RssPlace place = {};
  };

  std::uint32_t mm_id = 0;
  std::uint32_t pid = 0;         // 0: no task was seen to use it as its own yet
  std::uint32_t builder = 0;     // the first process that changed it
  bool began = false;            // in the recording: it had no pages before
  bool is_ended = false;         // nothing of it is left
  bool is_torn_down = false;     // its process gives everything back
  std::uint64_t from_ns = 0;     // changes before this time are in the reading of /proc
  std::uint64_t reading_ns = 0;  // and this is when that reading began
  std::uint64_t to_ns = 0;       // changes after this time came after the last reading; 0: none do
  RssMembers last = {};
  std::array<std::optional<First>, kRssMembers> firsts = {};
  RssSums sums = {};
  std::map<RssPlace, RssSums> places = {};
  std::int64_t peak_bytes = 0;
  std::int64_t while_read_bytes = 0;  // changes while /proc was read

  void book(RssChange change, const RssPlace& place, std::int64_t bytes, std::uint64_t count = 1) {
    sums.add(change, bytes, count);
    places[place].add(change, bytes, count);
  }

  void move(RssChange from, RssChange to, const RssPlace& place, std::int64_t bytes) {
    sums.move(from, to, bytes);
    places[place].move(from, to, bytes);
  }

  std::int64_t resident_bytes() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kRssMembers; ++i) {
      sum += i == static_cast<std::size_t>(RssMember::Swap) ? 0 : last.at(i).value_or(0);
    }
    return sum;
  }

  void note_peak() { peak_bytes = std::max(peak_bytes, resident_bytes()); }
};

}  // namespace memtrace
