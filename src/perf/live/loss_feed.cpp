#include "perf/live/loss_feed.h"

#include <algorithm>

namespace memtrace {

void LossFeed::see(Record& record) {
  last_time_ns_ = std::max(last_time_ns_, record.stamp.time_ns);
  std::uint64_t& newest_ns = newest_by_ring_ns_[record.stamp.stream];
  if (auto* lost = std::get_if<Lost>(&record.payload)) {
    lost->first_ns = newest_ns;
    lost_in_records_ += lost->count;
  }
  newest_ns = std::max(newest_ns, record.stamp.time_ns);
}

void LossFeed::add(const RingMerge::Losses& losses) {
  const auto note = [this](const std::vector<LossSpan>& spans, LossReason reason) {
    for (const LossSpan& span : spans) {
      losses_.push_back({{.time_ns = span.last_ns}, Lost{span.count, reason, span.first_ns}, {}});
    }
  };
  note(losses.late, LossReason::Late);
  note(losses.dropped, LossReason::Overload);
  std::ranges::stable_sort(losses_, {}, [](const Record& record) { return record.stamp.time_ns; });
  if (losses.cut > 0) {
    own_records_.push_back({{.time_ns = last_time_ns_}, CutStacks{losses.cut}, {}});
  }
}

void LossFeed::add_tail(std::uint64_t counted,
                        const RingMerge& merge,
                        const RecordParser& parser,
                        std::uint64_t started_ns) {
  std::uint64_t in_records = lost_in_records_;
  merge.for_each_ready([&](const RingMerge::Entry& entry) {
    const auto record = parser.parse(entry.bytes());
    if (const auto* lost = record.ok() ? std::get_if<Lost>(&record.value().payload) : nullptr) {
      in_records += lost->count;
    }
  });
  if (counted > in_records) {
    const std::uint64_t first_ns = std::max(std::ranges::min(newest_by_ring_ns_), started_ns);
    own_records_.push_back({.stamp = {.time_ns = last_time_ns_},
                            .payload = Lost{counted - in_records, LossReason::Kernel, first_ns}});
  }
}

std::uint64_t LossFeed::add_tick(std::uint64_t complete_ns, std::uint64_t now_ns) {
  const std::uint64_t time_ns = ticks_.time_ns(complete_ns, now_ns);
  own_records_.push_back({.stamp = {.time_ns = time_ns}, .payload = Tick{}});
  return time_ns;
}

void LossFeed::add_count(std::uint64_t time_ns, const EventCounts::Rise& rise) {
  insert({.stamp = {.time_ns = time_ns, .cpu = rise.cpu},
          .payload = Counted{.event = rise.event, .count = rise.count}});
}

void LossFeed::note_gap(std::uint64_t time_ns) {
  insert({.stamp = {.time_ns = time_ns}, .payload = Lost{}});
}

void LossFeed::insert(const Record& record) {
  const auto after = std::ranges::upper_bound(
      losses_, record.stamp.time_ns, {}, [](const Record& other) { return other.stamp.time_ns; });
  losses_.insert(after, record);
}

std::optional<Record> LossFeed::next_loss(const RingMerge& merge, bool all) {
  if (losses_.empty()) {
    return std::nullopt;
  }
  const std::uint64_t time_ns = losses_.front().stamp.time_ns;
  const auto next_ns = merge.next_time_ns();
  const bool is_due = next_ns ? time_ns <= *next_ns : all || time_ns <= merge.complete_to_ns();
  if (!is_due) {
    return std::nullopt;
  }
  const Record record = losses_.front();
  losses_.pop_front();
  return record;
}

std::optional<Record> LossFeed::next_own() {
  if (own_records_.empty()) {
    return std::nullopt;
  }
  const Record record = own_records_.front();
  own_records_.pop_front();
  return record;
}

}  // namespace memtrace
