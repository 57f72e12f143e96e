#include "report/row_histograms.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace memtrace {
namespace {

using Keys = std::vector<Cell>;

Keys keys_of(const Table& table, const std::vector<Cell>& row) {
  return {row.begin(), row.begin() + static_cast<std::ptrdiff_t>(table.key_count)};
}

// Powers of two have no gaps.
void fill_gaps(Histogram& histogram) {
  std::vector<Histogram::Bucket> filled;
  for (const auto& bucket : histogram.buckets) {
    while (!filled.empty() && filled.back().high + 1 < bucket.low) {
      const std::uint64_t low = filled.back().high + 1;
      filled.push_back({low, low + (low - 1), 0});
    }
    filled.push_back(bucket);
  }
  histogram.buckets = std::move(filled);
}

void add_to(Histogram& sum, const Histogram& other) {
  std::map<std::uint64_t, Histogram::Bucket> buckets;
  for (const Histogram* each : {&std::as_const(sum), &other}) {
    for (const auto& bucket : each->buckets) {
      const Histogram::Bucket empty{bucket.low, bucket.high, 0};
      buckets.try_emplace(bucket.low, empty).first->second.count += bucket.count;
    }
  }
  sum.title = other.title;
  sum.unit = other.unit;
  sum.buckets.clear();
  for (const auto& [low, bucket] : buckets) {
    sum.buckets.push_back(bucket);
  }
  fill_gaps(sum);
}

}  // namespace

void drop_lost_histograms(Table& table) {
  if (table.histograms.empty()) {
    return;
  }
  std::set<Keys> kept;
  for (const auto& row : table.rows) {
    kept.insert(keys_of(table, row));
  }
  std::erase_if(table.histograms,
                [&kept](const RowHistogram& each) { return !kept.contains(each.keys); });
}

void order_histograms(Table& table) {
  if (table.histograms.empty()) {
    return;
  }
  std::map<Keys, Histogram> by_keys;
  for (RowHistogram& each : table.histograms) {
    by_keys.emplace(std::move(each.keys), std::move(each.histogram));
  }
  table.histograms.clear();
  const std::size_t shown = table.rows.size() - (table.last_is_rest ? 1 : 0);
  for (std::size_t row = 0; row < shown; ++row) {
    if (auto found = by_keys.extract(keys_of(table, table.rows[row]))) {
      table.histograms.push_back({std::move(found.key()), std::move(found.mapped())});
    }
  }
  if (table.last_is_rest && !by_keys.empty()) {
    Histogram rest;
    for (const auto& [keys, histogram] : by_keys) {
      add_to(rest, histogram);
    }
    table.histograms.push_back({keys_of(table, table.rows.back()), std::move(rest)});
  }
}

const Histogram* histogram_of(const Table& table, const std::vector<Cell>& row) {
  if (table.histograms.empty()) {
    return nullptr;
  }
  const auto found = std::ranges::find(table.histograms, keys_of(table, row), &RowHistogram::keys);
  return found == table.histograms.end() ? nullptr : &found->histogram;
}

}  // namespace memtrace
