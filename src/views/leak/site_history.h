// What became of the blocks of one row since the recording began: how many were freed and how soon,
// the least that was live in each interval, and when those were made that are live at the end. Its
// size does not depend on the number of blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "views/leak/leak_timeline.h"

namespace memtrace {

class SiteHistory {
 public:
  // Blocks, and their bytes together.
  struct Blocks {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  // Figures by interval; those that have not begun are 0.
  using Intervals = std::array<std::uint64_t, LeakTimeline::kMaxIntervals>;

  // `timeline` is that of all rows and outlives them.
  void allocate(LeakTimeline& timeline, std::uint64_t time_ns, Blocks blocks);
  void free(LeakTimeline& timeline, std::uint64_t time_ns, std::uint64_t born_ns, Blocks blocks);

  // At a report: blocks that are live.
  void note_survivor(std::uint64_t born_ns, std::uint64_t count);
  void forget_survivors();

  // Another row turns out to be the same: both have the same timeline.
  SiteHistory& operator+=(const SiteHistory& other);

  // False where so little happened that there is no more than sums.
  bool has_detail() const { return !detail_.empty(); }

  // Of a history that has detail.
  const LeakTimeline& timeline() const { return *timeline_; }

  const Blocks& allocated() const { return allocated_; }

  const Blocks& freed() const { return freed_; }

  // Of the first and the last allocation.
  std::uint64_t first_ns() const { return first_ns_; }

  std::uint64_t last_ns() const { return last_ns_; }

  // Of those that were freed within 2^power microseconds.
  std::uint64_t freed_within(std::size_t power) const;

  static std::uint64_t power_ns(std::size_t power) { return (std::uint64_t{1} << power) * 1000; }

  static constexpr std::size_t kPowers = 32;

  // The age that half of all blocks did not reach; nothing where more than half are live.
  std::optional<std::uint64_t> half_life_ns() const;

  // The least bytes that were live in each interval.
  Intervals lows() const;
  // Blocks that are live, by the interval that they were made in.
  Intervals survivors() const;

 private:
  struct Detail {
    Intervals lows{};
    std::array<std::uint32_t, kPowers> lifetimes{};  // by powers of two of microseconds
    std::array<std::uint32_t, LeakTimeline::kMaxIntervals> survivors{};
    std::uint32_t doublings = 0;  // of the timeline, when lows were written
    std::uint32_t last = 0;       // the interval that lows are written up to
  };

  std::uint64_t live_bytes() const {
    return allocated_.bytes - std::min(allocated_.bytes, freed_.bytes);
  }

  void make_detail(const LeakTimeline& timeline);
  static void catch_up(Detail& detail,
                       std::uint32_t doublings,
                       std::size_t now,
                       std::uint64_t live);

  const LeakTimeline* timeline_ = nullptr;
  Blocks allocated_;
  Blocks freed_;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
  std::uint64_t last_ns_ = 0;
  std::vector<Detail> detail_;  // none, or one
};

}  // namespace memtrace
