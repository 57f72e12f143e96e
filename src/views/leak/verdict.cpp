// Two questions, each with the data that answer it alone.
//
// Leak: for some age that most blocks do not reach, those that reached it and had four times as
// long are still live, hardly one was freed later, and they were made all the time. What is live of
// a cache never is that old.
//
//   live, by when it was made   |x x x x x x x x|  a leak
//                               |            xxx|  a cache, or work in progress
//                               |xxx            |  made at the start
//
// Growing: the least that is live in an interval rises from one interval to the next.
#include "views/leak/verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace memtrace {
namespace {

constexpr std::size_t kLeastIntervals = 12;
constexpr std::uint64_t kLeastLengthNs = 2'000'000'000;
// The first allocation of a row was at least this part of the recording ago.
constexpr std::uint64_t kLeastPart = 4;
// A block is overdue at this many times the age that others do not reach.
constexpr std::uint64_t kOverdue = 4;
// Overdue blocks were made in at least this many intervals.
constexpr std::size_t kLeastBirths = 3;
// At most one in eight of the blocks that reached the age was freed later.
constexpr std::uint64_t kMostLateFrees = 8;
// What grows at less than this part of its former rate has stopped.
constexpr double kStopped = 10;
// Less is the end of a page here and there.
constexpr std::uint64_t kLeastPinnedBytes = 1 << 20;
constexpr std::uint64_t kLeastPinnedRatio = 8;
constexpr double kNsPerMinute = 60e9;

struct Site {
  const SiteHistory& history;
  const LeakTimeline& timeline;
  SiteHistory::Intervals lows;
  SiteHistory::Intervals survivors;
};

// Blocks that are overdue, by intervals: those that begin with the first and end before `limit`.
struct Overdue {
  std::size_t limit = 0;
  std::uint64_t count = 0;
  std::uint64_t later = 0;  // of these, in the later half of the intervals
  std::size_t births = 0;   // intervals that have one
};

// `is_certain`: of those alone whose free cannot be lost.
Overdue overdue_at(const Site& site, std::uint64_t age_ns, bool is_certain) {
  const LeakTimeline& timeline = site.timeline;
  Overdue overdue;
  const std::uint64_t due_ns = kOverdue * age_ns;
  if (due_ns < timeline.length_ns()) {
    overdue.limit = (timeline.length_ns() - due_ns) / timeline.width_ns();
  }
  const std::size_t usual = age_ns / timeline.width_ns() + 1;
  for (std::size_t i = 0; i < overdue.limit; ++i) {
    if (site.survivors[i] == 0 || (is_certain && timeline.lost_in(i, i + usual))) {
      continue;
    }
    overdue.count += site.survivors[i];
    overdue.later += i * 2 >= overdue.limit ? site.survivors[i] : 0;
    ++overdue.births;
  }
  return overdue;
}

// A growth of blocks that are overdue at this age; 0: it is no leak by this age.
double leak_rate(const Site& site, std::size_t power, bool is_certain) {
  const SiteHistory& history = site.history;
  const std::uint64_t early = history.freed_within(power);
  const std::uint64_t late = history.freed_within(SiteHistory::kPowers) - early;
  const Overdue overdue = overdue_at(site, SiteHistory::power_ns(power), is_certain);
  const bool is_usual = early * 2 >= history.allocated().count;
  // What fills up, as a table of names does, has fewer and fewer.
  const bool is_steady = overdue.births >= kLeastBirths && overdue.later * 3 >= overdue.count;
  if (!is_usual || !is_steady || late * kMostLateFrees > overdue.count) {
    return 0;
  }
  const double bytes = static_cast<double>(history.allocated().bytes) /
                       static_cast<double>(history.allocated().count);
  return bytes * static_cast<double>(overdue.count) /
         (static_cast<double>(overdue.limit) * static_cast<double>(site.timeline.width_ns()));
}

double leak_rate(const Site& site, bool is_certain) {
  double rate = 0;
  for (std::size_t power = 0; power < SiteHistory::kPowers; ++power) {
    if (SiteHistory::power_ns(power) * 2 * kOverdue > site.timeline.length_ns()) {
      break;
    }
    rate = std::max(rate, leak_rate(site, power, is_certain));
  }
  return rate;
}

// Theil and Sen's: the median of the slopes between all pairs. A burst moves it little.
double median_slope(std::span<const std::uint64_t> values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((static_cast<double>(values[j]) - static_cast<double>(values[i])) /
                       static_cast<double>(j - i));
    }
  }
  if (slopes.empty()) {
    return 0;
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

// Mann and Kendall's: of all pairs, far more rise than fall. What fluctuates hardly ever does that.
bool rises(std::span<const std::uint64_t> values) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      sum += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  const auto pairs = static_cast<std::int64_t>(values.size() * (values.size() - 1) / 2);
  // A twentieth of what there is: sizes that vary add up to less.
  return sum * 10 >= pairs * 6 && values.back() > values.front() &&
         (values.back() - values.front()) * 20 >= values.back();
}

// Those that are live were made in that time: else their memory went without a call, as by
// execve(2).
bool has_made(const Site& site, std::size_t first, std::uint64_t risen_bytes) {
  std::uint64_t count = 0;
  for (std::size_t i = first; i < site.timeline.count(); ++i) {
    count += site.survivors[i];
  }
  const double bytes = static_cast<double>(site.history.allocated().bytes) /
                       static_cast<double>(site.history.allocated().count);
  return static_cast<double>(count) * bytes * 2 >= static_cast<double>(risen_bytes);
}

// The first blocks of all are gone, and they did not go at once: a cache that has just become full
// still looks as if it grew.
bool turns_over(const Site& site) {
  const LeakTimeline& timeline = site.timeline;
  const std::size_t first = timeline.number_of(site.history.first_ns());
  std::size_t oldest = first;
  while (oldest < timeline.count() && site.survivors[oldest] == 0) {
    ++oldest;
  }
  if (oldest == timeline.count() || (oldest - first) * 10 < timeline.count()) {
    return false;
  }
  const std::uint64_t age_ns = (timeline.count() - oldest) * timeline.width_ns();
  std::size_t power = 0;
  while (SiteHistory::power_ns(power + 1) * 2 <= age_ns) {
    ++power;
  }
  return site.history.freed_within(power) * 2 <= site.history.freed().count;
}

// The same without what rose where events were lost: a block whose free is lost counts as live.
SiteHistory::Intervals certain_lows(const Site& site) {
  SiteHistory::Intervals lows = site.lows;
  std::uint64_t risen = 0;
  for (std::size_t i = 1; i < site.timeline.count(); ++i) {
    if (site.timeline.lost_in(i - 1, i) && site.lows[i] > site.lows[i - 1]) {
      risen += site.lows[i] - site.lows[i - 1];
    }
    lows[i] -= std::min(lows[i], risen);
  }
  return lows;
}

// Of the later half, and of its own later half if that is less; 0: what is live does not grow, or
// no longer. `lows`: those of the site, or the certain ones.
double growth_rate(const Site& site, const SiteHistory::Intervals& lows) {
  const std::size_t count = site.timeline.count();
  const auto later = std::span(lows).subspan(count / 2, count - count / 2);
  const double slope = median_slope(later);
  const double now = median_slope(later.last(later.size() / 2));
  if (!rises(later) || now * kStopped < slope ||
      !has_made(site, count / 2, later.back() - later.front())) {
    return 0;
  }
  return std::min(slope, now) / static_cast<double>(site.timeline.width_ns());
}

// What grows steadily may vary by a third.
bool slows_down(const Site& site) {
  const std::size_t count = site.timeline.count();
  const auto lows = std::span(site.lows).first(count);
  return median_slope(lows.last(count / 4)) * 3 < median_slope(lows.first(count / 2)) * 2;
}

Verdict verdict_without_growth(const Site& site) {
  const LeakTimeline& timeline = site.timeline;
  const SiteHistory& history = site.history;
  if (history.last_ns() < timeline.start_ns() + timeline.length_ns() / 2) {
    return Verdict::StartUp;
  }
  const bool is_full = turns_over(site) || history.freed().count * 4 >= history.allocated().count;
  return is_full ? Verdict::Cache : Verdict::WarmingUp;
}

Verdict verdict_of_growth(const Site& site) {
  if (site.timeline.has_losses() && growth_rate(site, certain_lows(site)) <= 0) {
    return Verdict::Uncertain;
  }
  return slows_down(site) ? Verdict::WarmingUp : Verdict::Growing;
}

Judgement with_rate(Verdict verdict, double bytes_per_ns) {
  return {verdict, static_cast<std::uint64_t>(bytes_per_ns * kNsPerMinute)};
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"", "leak", "uncertain", "growing", "warming up", "cache", "start-up", "fragmented"});
  return kNames[static_cast<std::size_t>(verdict)];
}

Judgement judge(const SiteHistory& history) {
  if (!history.has_detail()) {
    return {};
  }
  const LeakTimeline& timeline = history.timeline();
  const std::uint64_t known_ns =
      timeline.end_ns() - std::min(timeline.end_ns(), history.first_ns());
  if (timeline.count() < kLeastIntervals || timeline.length_ns() < kLeastLengthNs ||
      known_ns * kLeastPart < timeline.length_ns()) {
    return {};
  }
  const Site site{.history = history,
                  .timeline = timeline,
                  .lows = history.lows(),
                  .survivors = history.survivors()};
  if (const double rate = leak_rate(site, timeline.has_losses()); rate > 0) {
    return with_rate(Verdict::Leak, rate);
  }
  if (timeline.has_losses()) {
    if (const double rate = leak_rate(site, false); rate > 0) {
      return with_rate(Verdict::Uncertain, rate);
    }
  }
  if (const double rate = turns_over(site) ? 0 : growth_rate(site, site.lows); rate > 0) {
    return with_rate(verdict_of_growth(site), rate);
  }
  return {verdict_without_growth(site), 0};
}

Judgement judge(const SiteHistory& history, std::uint64_t live_bytes, std::uint64_t pinned_bytes) {
  Judgement judgement = judge(history);
  const bool is_settled = judgement.verdict == Verdict::Cache ||
                          judgement.verdict == Verdict::StartUp ||
                          judgement.verdict == Verdict::WarmingUp;
  if (is_settled && judgement.growth_per_min_bytes == 0 && pinned_bytes >= kLeastPinnedBytes &&
      pinned_bytes / kLeastPinnedRatio >= live_bytes) {
    judgement.verdict = Verdict::Fragmented;
  }
  return judgement;
}

}  // namespace memtrace
