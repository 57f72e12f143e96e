#include "views/leak/site_history.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace memtrace {
namespace {

// Rows of fewer allocations, most of all rows, cost no memory for details.
constexpr std::uint64_t kDetailFrom = 4;

std::size_t power_of(std::uint64_t lifetime_ns) {
  return std::min<std::size_t>(std::bit_width(lifetime_ns / 1000), SiteHistory::kPowers - 1);
}

void add_to(std::uint32_t& sum, std::uint64_t count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  sum = static_cast<std::uint32_t>(std::min(kMost, sum + count));
}

}  // namespace

// The intervals since the last change had this much live throughout.
void SiteHistory::catch_up(Detail& detail,
                           std::uint32_t doublings,
                           std::size_t now,
                           std::uint64_t live) {
  for (; detail.doublings < doublings; ++detail.doublings) {
    const bool is_pair = detail.last % 2 != 0;
    for (std::size_t i = 0; i < LeakTimeline::kMaxIntervals / 2; ++i) {
      const bool is_half = !is_pair && 2 * i == detail.last;
      detail.lows[i] =
          is_half ? detail.lows[2 * i] : std::min(detail.lows[2 * i], detail.lows[2 * i + 1]);
    }
    std::fill(detail.lows.begin() + LeakTimeline::kMaxIntervals / 2, detail.lows.end(), 0);
    detail.last /= 2;
  }
  for (; detail.last < now; ++detail.last) {
    detail.lows[detail.last + 1] = live;
  }
}

// What was live before is not known in detail: little enough to count as nothing.
void SiteHistory::make_detail(const LeakTimeline& timeline) {
  timeline_ = &timeline;
  Detail& detail = detail_.emplace_back();
  detail.doublings = timeline.doublings();
  detail.last = static_cast<std::uint32_t>(timeline.count() - 1);
  detail.lows[detail.last] = live_bytes();
}

void SiteHistory::allocate(LeakTimeline& timeline, std::uint64_t time_ns, Blocks blocks) {
  const std::size_t now = timeline.reach(time_ns);
  if (!detail_.empty()) {
    catch_up(detail_.front(), timeline.doublings(), now, live_bytes());
  } else if (allocated_.count + blocks.count >= kDetailFrom && timeline.grant_detail()) {
    make_detail(timeline);
  }
  allocated_.count += blocks.count;
  allocated_.bytes += blocks.bytes;
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
}

void SiteHistory::free(LeakTimeline& timeline,
                       std::uint64_t time_ns,
                       std::uint64_t born_ns,
                       Blocks blocks) {
  const std::size_t now = timeline.reach(time_ns);
  if (!detail_.empty()) {
    catch_up(detail_.front(), timeline.doublings(), now, live_bytes());
  }
  freed_.count += blocks.count;
  freed_.bytes += blocks.bytes;
  if (!detail_.empty()) {
    Detail& detail = detail_.front();
    detail.lows[detail.last] = std::min(detail.lows[detail.last], live_bytes());
    add_to(detail.lifetimes[power_of(time_ns - std::min(time_ns, born_ns))], blocks.count);
  }
}

void SiteHistory::note_survivor(std::uint64_t born_ns, std::uint64_t count) {
  if (!detail_.empty()) {
    const std::size_t number =
        std::min<std::size_t>(timeline_->number_of(born_ns), LeakTimeline::kMaxIntervals - 1);
    add_to(detail_.front().survivors[number], count);
  }
}

void SiteHistory::forget_survivors() {
  if (!detail_.empty()) {
    detail_.front().survivors = {};
  }
}

SiteHistory& SiteHistory::operator+=(const SiteHistory& other) {
  if (!other.detail_.empty() && detail_.empty()) {
    timeline_ = other.timeline_;
    detail_ = other.detail_;
    Detail& detail = detail_.front();
    for (std::size_t i = 0; i <= detail.last; ++i) {
      detail.lows[i] += live_bytes();
    }
  } else if (!detail_.empty()) {
    Detail& detail = detail_.front();
    Detail added = other.detail_.empty() ? Detail() : other.detail_.front();
    const std::uint32_t doublings = std::max(detail.doublings, added.doublings);
    const auto now = [doublings](const Detail& part) {
      return std::size_t{part.last >> (doublings - part.doublings)};
    };
    const std::size_t last = std::max(now(detail), now(added));
    catch_up(detail, doublings, last, live_bytes());
    catch_up(added, doublings, last, other.live_bytes());
    for (std::size_t i = 0; i < LeakTimeline::kMaxIntervals; ++i) {
      detail.lows[i] += other.detail_.empty() && i <= last ? other.live_bytes() : added.lows[i];
      add_to(detail.survivors[i], added.survivors[i]);
    }
    for (std::size_t i = 0; i < kPowers; ++i) {
      add_to(detail.lifetimes[i], added.lifetimes[i]);
    }
  }
  allocated_.count += other.allocated_.count;
  allocated_.bytes += other.allocated_.bytes;
  freed_.count += other.freed_.count;
  freed_.bytes += other.freed_.bytes;
  first_ns_ = std::min(first_ns_, other.first_ns_);
  last_ns_ = std::max(last_ns_, other.last_ns_);
  return *this;
}

std::uint64_t SiteHistory::freed_within(std::size_t power) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; !detail_.empty() && i <= std::min(power, kPowers - 1); ++i) {
    sum += detail_.front().lifetimes[i];
  }
  return sum;
}

// Within a power of two ages count as spread evenly.
std::optional<std::uint64_t> SiteHistory::half_life_ns() const {
  const std::uint64_t half = (allocated_.count + 1) / 2;
  std::uint64_t below = 0;
  for (std::size_t power = 0; !detail_.empty() && power < kPowers; ++power) {
    const std::uint64_t here = detail_.front().lifetimes[power];
    if (here > 0 && below + here >= half) {
      const std::uint64_t low = power == 0 ? 0 : power_ns(power - 1);
      const double part = static_cast<double>(half - below) / static_cast<double>(here);
      return low + static_cast<std::uint64_t>(part * static_cast<double>(power_ns(power) - low));
    }
    below += here;
  }
  return std::nullopt;
}

SiteHistory::Intervals SiteHistory::lows() const {
  if (detail_.empty()) {
    return {};
  }
  Detail detail = detail_.front();
  catch_up(detail, timeline_->doublings(), timeline_->count() - 1, live_bytes());
  return detail.lows;
}

SiteHistory::Intervals SiteHistory::survivors() const {
  Intervals survivors{};
  if (!detail_.empty()) {
    std::ranges::copy(detail_.front().survivors, survivors.begin());
  }
  return survivors;
}

}  // namespace memtrace
