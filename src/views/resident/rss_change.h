// Why the resident size of a process changes: the lines of a ledger.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memtrace {

enum class RssChange : std::uint8_t {
  FirstTouch,
  Copied,
  SwapIn,
  Huge,
  Stack,
  File,
  Around,
  Shared,
  Populated,
  Kernel,
  Inherited,
  ByOthers,
  Replaced,
  Unmapped,
  Advised,
  Before,
  Exec,
  Exit,
  ExitUnseen,
  SwapOut,
  Reclaimed,
};

inline constexpr std::size_t kRssChanges = static_cast<std::size_t>(RssChange::Reclaimed) + 1;

// Which column of the table of processes a change is in.
enum class RssSide : std::uint8_t { Added, Freed, Taken };

// As the ledger prints it, in this order.
struct RssChangeName {
  std::string_view text;
  RssSide side = RssSide::Added;
};

inline constexpr std::array<RssChangeName, kRssChanges> kRssChangeNames = {{
    {"anonymous, first touch", RssSide::Added},
    {"anonymous, copy on write", RssSide::Added},
    {"anonymous, swapped in", RssSide::Added},
    {"anonymous, huge pages", RssSide::Added},
    {"stack", RssSide::Added},
    {"file, page of a fault", RssSide::Added},
    {"file, mapped around a fault", RssSide::Added},
    {"shared memory", RssSide::Added},
    {"by a call (MAP_POPULATE)", RssSide::Added},
    {"by the kernel, no fault", RssSide::Added},
    {"copied by fork", RssSide::Added},
    {"by another task", RssSide::Added},
    {"file, replaced by a copy", RssSide::Freed},
    {"unmapped", RssSide::Freed},
    {"madvise", RssSide::Freed},
    {"given back of the start", RssSide::Freed},
    {"exec", RssSide::Freed},
    {"exit", RssSide::Freed},
    {"exit, by difference", RssSide::Freed},
    {"swapped out", RssSide::Taken},
    {"reclaimed", RssSide::Taken},
}};

constexpr std::size_t index_of(RssChange change) {
  return static_cast<std::size_t>(change);
}

// What changes have added up to; those that make a process smaller are negative.
class RssSums {
 public:
  void add(RssChange change, std::int64_t bytes, std::uint64_t count = 1) {
    bytes_.at(index_of(change)) += bytes;
    counts_.at(index_of(change)) += count;
  }

  // Of what was counted as one change, this is another.
  void move(RssChange from, RssChange to, std::int64_t bytes) {
    bytes_.at(index_of(from)) -= bytes;
    bytes_.at(index_of(to)) += bytes;
    counts_.at(index_of(to)) += 1;
  }

  // A whole line.
  void move_all(RssChange from, RssChange to) {
    add(to, bytes(from), count(from));
    add(from, -bytes(from), 0);
    counts_.at(index_of(from)) = 0;
  }

  std::int64_t bytes(RssChange change) const { return bytes_.at(index_of(change)); }

  std::uint64_t count(RssChange change) const { return counts_.at(index_of(change)); }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : bytes_) {
      sum += bytes;
    }
    return sum;
  }

  // Growth is positive; what was freed or taken, too.
  std::int64_t on_side(RssSide side) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kRssChanges; ++i) {
      sum += kRssChangeNames.at(i).side == side ? bytes_.at(i) : 0;
    }
    return side == RssSide::Added ? sum : -sum;
  }

  RssSums& operator+=(const RssSums& other) {
    for (std::size_t i = 0; i < kRssChanges; ++i) {
      bytes_.at(i) += other.bytes_.at(i);
      counts_.at(i) += other.counts_.at(i);
    }
    return *this;
  }

 private:
  std::array<std::int64_t, kRssChanges> bytes_{};
  std::array<std::uint64_t, kRssChanges> counts_{};
};

}  // namespace memtrace
