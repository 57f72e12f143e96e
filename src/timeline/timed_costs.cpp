#include "timeline/timed_costs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace memtrace {
namespace {

// The page's size and the time until it shows are bounded by these.
constexpr std::size_t kMostSources = 300;
constexpr std::size_t kMostRests = 40;

using Amounts = Timeline::Amounts;
using Series = std::vector<Timeline::Amount>;

// The figures' sums, and the most that was live of it.
constexpr std::size_t kRanks = Timeline::kFigures + 1;
using Ranks = std::array<std::uint64_t, kRanks>;

void add_to(Amounts& sum, const Amounts& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += more[i];
  }
}

// Events come in the order of time, but for those that only later ones complete.
void add_to(Series& series, std::uint32_t slot, const Amounts& amounts) {
  auto at = series.end();
  while (at != series.begin() && std::prev(at)->slot >= slot) {
    --at;
  }
  if (at == series.end() || at->slot != slot) {
    at = series.insert(at, {.slot = slot});
  }
  add_to(at->figures, amounts);
}

void add_all(Series& series, const Series& more) {
  for (const Timeline::Amount& amount : more) {
    add_to(series, amount.slot, amount.figures);
  }
}

Ranks ranks_of(const Series& series) {
  Ranks ranks{};
  std::uint64_t live = 0;
  for (const Timeline::Amount& amount : series) {
    for (std::size_t i = 0; i < Timeline::kFigures; ++i) {
      ranks[i] += amount.figures[i];
    }
    const std::uint64_t before = live + amount.figures.front();
    live = before > amount.figures.back() ? before - amount.figures.back() : 0;
    ranks.back() = std::max(ranks.back(), live);
  }
  return ranks;
}

// The keys with the largest costs: the same number by each rank.
std::set<std::uint64_t> largest_of(std::vector<std::pair<std::uint64_t, Ranks>> sums,
                                   std::size_t most) {
  std::set<std::uint64_t> keys;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto is_larger = [rank](const auto& left, const auto& right) {
      return std::pair(right.second[rank], left.first) < std::pair(left.second[rank], right.first);
    };
    const std::size_t count = std::min(sums.size(), most / kRanks);
    const auto end = sums.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::partial_sort(sums, end, is_larger);
    for (auto at = sums.begin(); at != end; ++at) {
      keys.insert(at->first);
    }
  }
  return keys;
}

}  // namespace

void TimedCosts::add(Source source, std::uint32_t slot, const Amounts& amounts) {
  const auto [number, is_new] = numbers_.try_emplace(key_of(source), sources_.size());
  if (is_new) {
    sources_.push_back(source);
    series_.emplace_back();
  }
  add_to(series_[number->second], slot, amounts);
}

void TimedCosts::join(unsigned times) {
  for (std::size_t i = 0; times > 0 && i < series_.size(); ++i) {
    Series joined;
    for (const Timeline::Amount& amount : series_[i]) {
      add_to(joined, amount.slot >> times, amount.figures);
    }
    series_[i] = std::move(joined);
  }
}

std::vector<TimedCosts::Chosen> TimedCosts::choose() const {
  std::vector<std::pair<std::uint64_t, Ranks>> sums;
  std::map<std::uint64_t, Ranks> comm_sums;
  for (std::size_t number = 0; number < sources_.size(); ++number) {
    sums.emplace_back(number, ranks_of(series_[number]));
    Ranks& comm_sum = comm_sums[sources_[number].comm.value];
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      comm_sum[rank] += sums.back().second[rank];
    }
  }
  const auto kept = largest_of(std::move(sums), kMostSources);
  const auto comms = largest_of({comm_sums.begin(), comm_sums.end()}, kMostRests);
  std::vector<Chosen> chosen;
  chosen.reserve(kept.size() + comms.size() + 1);
  std::map<std::uint32_t, Series> rests;
  for (std::size_t number = 0; number < sources_.size(); ++number) {
    if (kept.contains(number)) {
      chosen.push_back({.source = sources_[number], .amounts = series_[number]});
      continue;
    }
    const std::uint32_t comm = sources_[number].comm.value;
    add_all(rests[comms.contains(comm) ? comm : 0], series_[number]);
  }
  for (auto& [comm, series] : rests) {
    chosen.push_back(
        {.source = {.comm = {comm}, .stack = {}}, .is_rest = true, .amounts = std::move(series)});
  }
  return chosen;
}

}  // namespace memtrace
