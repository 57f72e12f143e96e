// How long the windows of user probes are, and what their samples count for: from what earlier
// windows cost, and from the CPU time that the programs used in them and between them.
//
//   p       part of the programs' CPU time that the probes take in a window
//   slower  how many times slower the programs go in a window: their CPU time in a second between
//           windows, by that in a second of a window without what the probes take
//
//   share  >= p / (1 - p) / limit      then the windows cost the programs `limit` of their time
//   length  = cycle / share x slower   then one in `share` of all calls is seen
//
// A program that mostly waits for its clients goes as fast in a window. One that never waits goes
// at 1 - p of its speed. The CPU time shows both, because a call takes the same CPU time, without
// its probe, in a window and between windows.
#pragma once

#include <cstdint>

namespace memtrace {

class WindowChooser {
 public:
  // `limit`: of the programs' time. `part`: p as it is taken to be before the first window.
  WindowChooser(double limit, double part);

  struct Times {
    double wall_ns = 0;
    double watched_ns = 0;  // CPU time of the programs
    double probes_ns = 0;   // part of it
  };

  void see_window(const Times& window);
  void see_between(const Times& between);

  struct Choice {
    std::uint64_t share = 0;  // one of kProbeShares; 0: even the largest would cost too much
    std::uint64_t length_ns = 0;
    // The same without probes: a slot of the cycle.
    std::uint64_t slot_ns = 0;
  };

  Choice next();

  double part() const { return part_; }

  double slower() const;

 private:
  double limit_;
  double latest_part_;
  double part_;
  std::uint64_t share_ = 0;  // of the choice before
  Times in_windows_;         // of the last ones mostly
  Times between_;
};

// How much of its slot a window has covered. When the programs call more often than in earlier
// windows, the probes slow them more, so the window has to be longer. Otherwise busy times would
// count too little.
class WindowProgress {
 public:
  WindowProgress(const WindowChooser::Choice& choice, const WindowChooser& chooser);

  // What has been since the last call.
  void add(const WindowChooser::Times& times);

  // Until the window has covered its slot, as it looks now; 0: it has.
  std::uint64_t left_ns() const;

  const WindowChooser::Times& times() const { return times_; }

 private:
  double slot_ns_;
  double most_ns_;
  double usual_slower_;
  double usual_part_;
  double slower_;
  double covered_ns_ = 0;
  WindowChooser::Times times_;
};

}  // namespace memtrace
