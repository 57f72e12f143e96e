// Enables and disables the events of ladders while a recording runs: one period of each, all the
// time or in windows.
//
//   cycle of 100 ms     |              |              |              |
//   slots, share 4      |   |   |   |   |   |   |   |   |   |   |   |   |
//   enabled             |   |###|   |   |###|   |   |   |   |   |   |###|
//
// In each cycle the slot is drawn at random. So each moment is watched with the same probability,
// one in `share`, and figures that count a sample `share` times are right on average, whatever the
// rhythm of the programs: a stratified random sample with one unit of each stratum (W. G. Cochran,
// Sampling Techniques, 3rd edition, 5A.12). A thread of this class keeps the time. A window that it
// opens too late is as long as the others: only the samples of its length count.
//
// Counting slows a busy program: in a window it does less than in a slot that nobody watches. So a
// window is longer than its slot by the time that counting takes of it (set_stretch()).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "perf/event/event_set.h"
#include "perf/pace/sample_spans.h"
#include "perf/record/watched_window.h"

namespace memtrace {

class EventGates {
 public:
  // What is enabled of a ladder.
  struct Choice {
    std::uint32_t event = 0;  // index into EventSet::events()
    std::uint64_t share = 1;  // more than 1: in windows

    friend bool operator==(const Choice&, const Choice&) = default;
  };

  // Both outlive it. No event is closed before stop().
  EventGates(const EventSet& events, SampleSpans& spans);
  EventGates(const EventGates&) = delete;
  EventGates& operator=(const EventGates&) = delete;
  EventGates(EventGates&&) = delete;
  EventGates& operator=(EventGates&&) = delete;

  ~EventGates() { stop(); }

  // One for each ladder, for the first time: enabled at once, or by exec already. Windows begin
  // with the next cycle, which this waits for. Error: an event cannot be enabled.
  Result<> start(std::vector<Choice> choices, bool enabled_by_exec);

  // From now on; where there are windows, from the next cycle on. An event that cannot be enabled
  // any more belongs to a program that has ended.
  void change(std::vector<Choice> choices);

  // How much longer a window is than its slot, from the next one on: 1.1 where watching takes a
  // tenth of the time of the programs that are watched.
  void set_stretch(double stretch);

  // How long each ladder's event has been enabled since the last call.
  std::vector<std::uint64_t> take_enabled_ns();

  // That were opened since the last call.
  std::vector<WatchedWindow> take_windows();

  // Nothing is enabled or disabled any more. May be called again.
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Since take_enabled_ns().
  struct Enabled {
    std::uint64_t since_ns = 0;  // of an event that is enabled all the time
    std::uint64_t before_ns = 0;
  };

  static bool has_windows(const std::vector<Choice>& choices);
  Result<> set_enabled(std::uint32_t event, bool is_enabled) const;
  void note_enabled_by_exec(std::vector<Choice> choices);
  Result<> apply(const std::vector<Choice>& choices);
  void disable(const Choice& was, Enabled& enabled);
  Result<> enable(const Choice& choice, Enabled& enabled);
  void start_thread();
  void run();
  void run_cycle(Lock& lock, std::uint64_t start_ns);
  bool wait_until(Lock& lock, std::uint64_t time_ns);
  void wait_for_windows(Lock& lock);
  WatchedWindow open_window(std::span<const std::uint32_t> events, std::uint64_t share);

  SampleSpans& spans_;
  std::vector<std::vector<int>> fds_;  // by event
  std::mutex mutex_;                   // of all below
  std::condition_variable changed_;
  std::vector<Choice> now_;
  std::vector<Choice> wanted_;
  std::vector<Enabled> enabled_;  // of now_
  std::vector<WatchedWindow> windows_;
  double stretch_ = 1;
  bool is_stopped_ = false;
  std::uint64_t first_cycle_ns_ = 0;
  std::mt19937_64 random_{std::random_device()()};
  std::thread thread_;
};

}  // namespace memtrace
