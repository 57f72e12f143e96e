// Keeps the cost of user probes below its limit. When they cost more in two looks, one after the
// other, they are opened in windows only (perf/pace/probe_windows.h). Where windows are no help,
// the probes are to be removed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/event/event_set.h"
#include "perf/pace/probe_opener.h"
#include "perf/pace/probe_windows.h"
#include "perf/pace/sample_spans.h"
#include "perf/record/passing_ids.h"
#include "perf/record/watched_window.h"

namespace memtrace {

class ProbeLimit {
 public:
  // `limit`: of the programs' CPU time.
  explicit ProbeLimit(double limit) : limit_(limit) {}

  // A look at probes that are there all the time: what their hits have cost the programs.
  void judge(double cost_ns, double watched_ns);

  // A measurement before the first look says so.
  void note_exceeded(double share);

  // Starts to count looks again.
  void forget_looks() { looks_ = 0; }

  // They cost too much as they are.
  bool is_exceeded() const { return looks_ >= kLooksOver || !failure_.empty(); }

  // Whether all user probes of these events may be in windows.
  static bool all_may_have_windows(const EventSet& events);

  // Of the events that windows open, for the parser.
  std::shared_ptr<const PassingIds> ids() const { return ids_; }

  // From now on the probes are there in windows only. `always`: all of them, as they were there
  // until now. Error: they cannot be held, and `always` is as it was.
  Result<> begin_windows(const EventSet& events,
                         std::vector<OpenedFd>& always,
                         SampleSpans& spans,
                         ProbeWindows::Setup setup);

  bool has_windows() const { return windows_ != nullptr; }

  // Since the last call. Ends of windows: from then on events are missing.
  std::vector<std::uint64_t> take_gaps();
  std::vector<WatchedWindow> take_windows();

  struct Cost {
    std::uint64_t hits = 0;
    double ns = 0;
  };

  Cost take_cost();

  // As OpenedFd::lost() of all windows.
  std::uint64_t lost() const { return lost_; }

  // No window is opened any more. Returns what keeps the probes registered, to be closed.
  std::vector<OpenedFd> end_windows();

  // Sentences. `after_ns`: since the start; 0: not known.
  std::string why_removed(std::uint64_t after_ns) const;
  std::string why_in_windows(std::uint64_t after_ns) const;
  // What they were like, at the end; "" if there were none.
  std::string about_windows();

 private:
  static constexpr std::uint32_t kLooksOver = 2;

  std::string cost_sentence(std::uint64_t after_ns, const char* what) const;
  void take_news();

  double limit_;
  std::uint32_t looks_ = 0;  // one after the other, in which they cost more
  double share_ = 0;         // that they cost in the last one
  std::string failure_;      // why windows are no help
  std::uint64_t lost_ = 0;
  ProbeWindows::News news_;
  std::shared_ptr<PassingIds> ids_ = std::make_shared<PassingIds>();
  std::optional<ProbeOpener> opener_;
  std::vector<OpenedFd> holders_;
  std::unique_ptr<ProbeWindows> windows_;  // uses what is above
};

}  // namespace memtrace
