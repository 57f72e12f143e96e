// Of which events somebody asks for stacks: most events have none that a report needs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memtrace {

// One thread uses samples and asks for stacks. Another one makes them ahead, of the events that are
// asked for; it may see a change some events later.
//
// An event counts from the first stack on that is asked for, and as long as each window of its
// samples has enough of them: with a filter that few samples pass, most stacks would be made for
// nothing.
class AskedStacks {
 public:
  static constexpr std::uint32_t kWindow = 1024;  // samples of an event
  static constexpr std::uint32_t kWanted = 4;     // enough: one of this number of samples

  // The user has a sample. `event` is an index into Recording::events.
  void pass(std::uint32_t event) {
    if (event < kMaxEvents && ++counts_[event].passed == kWindow) {
      end_window(event);
    }
  }

  // Somebody asks for the stack of the sample that passed last, once.
  void note(std::uint32_t event) {
    if (event >= kMaxEvents) {
      return;
    }
    Counts& counts = counts_[event];
    ++counts.asked;
    if (!counts.was_asked) {
      counts = {.passed = 0, .asked = 0, .was_asked = true};
      asked_[event].store(true, std::memory_order_relaxed);
    }
  }

  bool has(std::uint32_t event) const {
    return event < kMaxEvents && asked_[event].load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kMaxEvents = 1024;  // of more events the caller makes all stacks

  struct Counts {  // of this window
    std::uint32_t passed = 0;
    std::uint32_t asked = 0;
    bool was_asked = false;  // ever
  };

  void end_window(std::uint32_t event) {
    Counts& counts = counts_[event];
    asked_[event].store(counts.asked >= kWindow / kWanted, std::memory_order_relaxed);
    counts.passed = 0;
    counts.asked = 0;
  }

  std::array<Counts, kMaxEvents> counts_{};  // the user's alone
  std::array<std::atomic<bool>, kMaxEvents> asked_{};
};

}  // namespace memtrace
