#include "perf/pace/window_chooser.h"

#include <algorithm>

#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

// Earlier windows keep this part of their weight, because a single window is short.
constexpr double kEarlierPart = 0.8;
constexpr double kLargestPart = 0.98;
constexpr double kLargestPartAtFirst = 0.9;
constexpr double kMostSlower = 50;
// With less CPU time than this the part is not known.
constexpr double kLeastUsedNs = 500'000;
// How many times longer than planned a window may become.
constexpr double kMostLonger = 3;
// No window is longer.
constexpr std::uint64_t kLongestNs = kProbeCycleNs / 4;

double part_of(const WindowChooser::Times& times) {
  return std::min(kLargestPart, times.probes_ns / times.watched_ns);
}

void add_up(const WindowChooser::Times& times, WindowChooser::Times& sums) {
  sums.wall_ns = sums.wall_ns * kEarlierPart + times.wall_ns;
  sums.watched_ns = sums.watched_ns * kEarlierPart + times.watched_ns;
  sums.probes_ns = sums.probes_ns * kEarlierPart + times.probes_ns;
}

}  // namespace

// The first part is an estimate. A limit on it lets the first window happen, which measures it.
WindowChooser::WindowChooser(double limit, double part)
    : limit_(limit), latest_part_(std::min(part, kLargestPartAtFirst)), part_(latest_part_) {}

void WindowChooser::see_window(const Times& window) {
  add_up(window, in_windows_);
  if (window.watched_ns > kLeastUsedNs) {
    latest_part_ = part_of(window);
  }
  if (in_windows_.watched_ns > kLeastUsedNs) {
    part_ = part_of(in_windows_);
  }
}

void WindowChooser::see_between(const Times& between) {
  add_up(between, between_);
}

// Before the first window it assumes that the programs never wait.
double WindowChooser::slower() const {
  const double working_ns = in_windows_.watched_ns - in_windows_.probes_ns;
  if (working_ns <= 0 || between_.watched_ns <= 0 || in_windows_.wall_ns <= 0) {
    return 1 / (1 - std::min(kLargestPart, part_));
  }
  const double slower =
      (between_.watched_ns / between_.wall_ns) / (working_ns / in_windows_.wall_ns);
  return std::clamp(slower, 1.0, kMostSlower);
}

// The share falls by one step only, because a program that pauses for a moment will go on.
WindowChooser::Choice WindowChooser::next() {
  const double part = std::min(kLargestPart, std::max(part_, latest_part_));
  const double least = part / (1 - part) / limit_;
  const auto* const wanted = std::ranges::find_if(
      kProbeShares, [least](std::uint64_t share) { return static_cast<double>(share) >= least; });
  if (wanted == kProbeShares.end()) {
    return {};
  }
  share_ = std::max(*wanted, share_ / 2);
  const std::uint64_t slot_ns = kProbeCycleNs / share_;
  const double length_ns = static_cast<double>(slot_ns) * slower();
  return {.share = share_,
          .length_ns = std::min(kLongestNs, static_cast<std::uint64_t>(length_ns)),
          .slot_ns = slot_ns};
}

WindowProgress::WindowProgress(const WindowChooser::Choice& choice, const WindowChooser& chooser)
    : slot_ns_(static_cast<double>(choice.slot_ns)),
      most_ns_(kMostLonger * static_cast<double>(choice.length_ns)),
      usual_slower_(chooser.slower()),
      usual_part_(std::min(kLargestPart, chooser.part())),
      slower_(usual_slower_) {}

// Uses p of this step instead of the usual one. A program that never waits is 1 + p / (1 - p) times
// slower. One that waits enough is not slower at all.
void WindowProgress::add(const WindowChooser::Times& times) {
  const auto odds = [](double part) { return part / (1 - part); };
  if (times.watched_ns > kLeastUsedNs && usual_part_ > 0) {
    slower_ = 1 + (usual_slower_ - 1) * odds(part_of(times)) / odds(usual_part_);
  }
  covered_ns_ += times.wall_ns / slower_;
  times_.wall_ns += times.wall_ns;
  times_.watched_ns += times.watched_ns;
  times_.probes_ns += times.probes_ns;
}

std::uint64_t WindowProgress::left_ns() const {
  const double left_ns = std::min((slot_ns_ - covered_ns_) * slower_, most_ns_ - times_.wall_ns);
  return left_ns <= 0 ? 0 : static_cast<std::uint64_t>(left_ns) + 1;
}

}  // namespace memtrace
