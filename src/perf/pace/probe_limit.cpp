#include "perf/pace/probe_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/units.h"
#include "perf/pace/ladder.h"
#include "perf/pace/percent_text.h"

namespace memtrace {
namespace {

// With less CPU time than this a share says nothing.
constexpr double kLeastWatchedNs = 50'000'000;
// The cost of a hit is an estimate, and the probes cannot take more than all of the time.
constexpr double kAll = 0.99;
// Where probes take this much of a window, the program's own work in it is too little to measure.
constexpr double kNearlyAll = 0.9;

}  // namespace

void ProbeLimit::judge(double cost_ns, double watched_ns) {
  if (cost_ns <= 0 || watched_ns < kLeastWatchedNs) {
    looks_ = 0;
    return;
  }
  share_ = std::min(kAll, cost_ns / watched_ns);
  looks_ = share_ > limit_ ? looks_ + 1 : 0;
}

void ProbeLimit::note_exceeded(double share) {
  share_ = std::min(kAll, share);
  looks_ = kLooksOver;
}

bool ProbeLimit::all_may_have_windows(const EventSet& events) {
  return std::ranges::all_of(events.events(), [](const OpenedEvent& event) {
    const EventRequest& request = event.request;
    return request.probed_file.empty() || request.is_of_windows() || may_have_windows(request);
  });
}

Result<> ProbeLimit::begin_windows(const EventSet& events,
                                   std::vector<OpenedFd>& always,
                                   SampleSpans& spans,
                                   ProbeWindows::Setup setup) {
  opener_.emplace(events, *ids_);
  auto holders = opener_->hold();
  if (!holders.ok()) {
    return holders.take_error();
  }
  holders_ = holders.take();
  setup.part = share_;
  windows_ = std::make_unique<ProbeWindows>(*opener_, spans, std::move(setup));
  windows_->start(std::exchange(always, {}));
  return kDone;
}

void ProbeLimit::take_news() {
  if (windows_ == nullptr) {
    return;
  }
  ProbeWindows::News news = windows_->take_news();
  std::ranges::copy(news.gaps, std::back_inserter(news_.gaps));
  std::ranges::copy(news.windows, std::back_inserter(news_.windows));
  news_.hits += news.hits;
  news_.cost_ns += news.cost_ns;
  lost_ += news.lost;
  failure_ = failure_.empty() ? news.failure : failure_;
}

std::vector<std::uint64_t> ProbeLimit::take_gaps() {
  take_news();
  return std::exchange(news_.gaps, {});
}

std::vector<WatchedWindow> ProbeLimit::take_windows() {
  take_news();
  return std::exchange(news_.windows, {});
}

ProbeLimit::Cost ProbeLimit::take_cost() {
  take_news();
  return {.hits = std::exchange(news_.hits, 0), .ns = std::exchange(news_.cost_ns, 0)};
}

std::vector<OpenedFd> ProbeLimit::end_windows() {
  if (windows_ != nullptr) {
    windows_->stop();
    take_news();
  }
  failure_.clear();
  return std::exchange(holders_, {});
}

std::string ProbeLimit::cost_sentence(std::uint64_t after_ns, const char* what) const {
  return fmt::format(
      "{}user probes were {}, because they cost the watched programs about {} % of their CPU time, "
      "and {} % is the limit",
      after_ns == 0 ? "" : print_duration(after_ns) + " after the start, ",
      what,
      percent_text(share_),
      percent_text(limit_));
}

std::string ProbeLimit::why_removed(std::uint64_t after_ns) const {
  return cost_sentence(after_ns, "removed") + (failure_.empty() ? "" : " (" + failure_ + ")") +
         ": there are no events of probed functions after that; growth finds who uses memory "
         "without probes";
}

std::string ProbeLimit::why_in_windows(std::uint64_t after_ns) const {
  return cost_sentence(after_ns, "limited to windows") +
         ": from then on they are there for a short time in each second, figures of probed "
         "functions are estimates, and blocks that count as live may have been freed between two "
         "windows";
}

std::string ProbeLimit::about_windows() {
  const ProbeWindows::Summary summary =
      windows_ == nullptr ? ProbeWindows::Summary() : windows_->summary();
  if (summary.most_share == 0) {
    return "";
  }
  return fmt::format(
      "user probes were there in windows only, one in each second at a random time; a call that "
      "was seen counts for {}; in a window they took about {} % of the programs' CPU time, and "
      "memtrace corrected for this{}",
      summary.least_share == summary.most_share
          ? fmt::format("{}", summary.most_share)
          : fmt::format("{} to {}", summary.least_share, summary.most_share),
      percent_text(summary.part),
      summary.part < kNearlyAll
          ? ""
          : ": the programs do so little between two calls that figures of probed functions may "
            "be several times too low");
}

}  // namespace memtrace
