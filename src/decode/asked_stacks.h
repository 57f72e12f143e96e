// Of which events somebody asks for stacks: most events have none that a report needs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memtrace {

// One thread notes, another one asks. It may hear of it some events later.
class AskedStacks {
 public:
  // `event` is an index into Recording::events.
  void note(std::uint32_t event) {
    if (event < kMaxEvents) {
      asked_[event].store(true, std::memory_order_relaxed);
    }
  }

  bool has(std::uint32_t event) const {
    return event < kMaxEvents && asked_[event].load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kMaxEvents = 1024;  // of more events the caller makes all stacks

  std::array<std::atomic<bool>, kMaxEvents> asked_{};
};

}  // namespace memtrace
