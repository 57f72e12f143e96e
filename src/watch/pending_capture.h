// A file that a trigger has asked for, and that is written once --after is over.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sections/watch_facts.h"
#include "watch/resident_sizes.h"
#include "watch/trigger_watch.h"

namespace memtrace {

class PendingCapture {
 public:
  explicit PendingCapture(std::uint64_t after_ns) : after_ns_(after_ns) {}

  // What fires while another one is waited for goes into the same file. `sizes` are those of now.
  void fire(Firing firing, std::vector<ResidentSize> sizes, std::uint64_t now_ns);

  bool is_waiting() const { return !facts_.triggers.empty(); }

  bool is_due(std::uint64_t now_ns) const {
    return is_waiting() && now_ns - fired_ns_ >= after_ns_;
  }

  // Of the first one, by CLOCK_MONOTONIC.
  std::uint64_t fired_ns() const { return fired_ns_; }

  const std::string& label() const { return label_; }

  // Who was killed comes first among those who grew, then who grew most. `before`: the sizes of
  // processes at the time `since_ns`, when the file begins.
  WatchFacts facts(const std::vector<ResidentSize>& before, std::uint64_t since_ns) const;

  void clear() { *this = PendingCapture(after_ns_); }

 private:
  static constexpr std::size_t kMostTriggers = 100;

  std::uint64_t after_ns_;
  std::uint64_t fired_ns_ = 0;
  std::string label_;
  WatchFacts facts_;
  std::vector<ResidentSize> sizes_;
  std::vector<std::uint32_t> killed_;
};

}  // namespace memtrace
