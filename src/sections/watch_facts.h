// Why memtrace watch wrote a file: part of what the recording says of itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace {

struct FiredTrigger {
  std::string word;           // as given to --on: "available<5%"
  std::uint64_t time_ns = 0;  // on the records' clock
  std::string text;           // what happened, with its figures: a sentence

  friend bool operator==(const FiredTrigger&, const FiredTrigger&) = default;
};

// A process that has become larger until the first trigger fired.
struct GrownProcess {
  std::uint32_t pid = 0;
  std::string comm;
  std::uint64_t before_bytes = 0;  // resident, when the file begins
  std::uint64_t bytes = 0;

  friend bool operator==(const GrownProcess&, const GrownProcess&) = default;
};

// Empty in a recording that memtrace watch did not make.
struct WatchFacts {
  std::vector<FiredTrigger> triggers;  // the first one made the file
  std::vector<GrownProcess> grown;     // most first
  std::uint64_t sizes_ns = 0;          // the time that they have grown in; 0: not known

  friend bool operator==(const WatchFacts&, const WatchFacts&) = default;
};

}  // namespace memtrace
