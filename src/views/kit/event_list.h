// A list of single events, one row each in the order of time: what --trace of a view shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"

namespace memtrace {

class EventList {
 public:
  // `keys` are columns in front of `figures`; both outlive the list. Those of `own` come before
  // the shared ones.
  EventList(std::span<const std::string_view> keys,
            std::span<const KeySpec> own,
            std::span<const Figure<Event>> figures)
      : figures_(figures) {
    for (const std::string_view key : keys) {
      const auto found = std::ranges::find(own, key, &KeySpec::name);
      specs_.push_back(found == own.end() ? *find_shared_key(key) : *found);
    }
  }

  // The event's raw bytes and texts are gone when the list is shown: figures use its numbers.
  void add(const Event& event) {
    if (events_.size() >= kMaxEvents) {
      ++left_out_;
      return;
    }
    events_.push_back(event);
    events_.back().raw = {};
    events_.back().freed = nullptr;
  }

  // Times are counted from the first report's start.
  Table table(std::string_view title, const CellContext& context) {
    start_ns_ = start_ns_ == 0 ? context.span.start_ns : start_ns_;
    Table table;
    table.title = title;
    table.fixed = true;
    table.columns.push_back({"time_ns", Unit::Nanoseconds});
    for (const KeySpec& spec : specs_) {
      table.columns.push_back({std::string(spec.name), spec.unit});
    }
    table.key_count = table.columns.size();
    for (const Figure<Event>& figure : figures_) {
      table.columns.push_back({std::string(figure.name), figure.unit});
    }
    for (const Event& event : events_) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row.push_back(since(event.time_ns, start_ns_));
      for (const KeySpec& spec : specs_) {
        row.push_back(spec.cell(spec.of(event), context));
      }
      for (const Figure<Event>& figure : figures_) {
        row.push_back(figure.of(event, context));
      }
    }
    if (left_out_ > 0) {
      table.note = print_count(left_out_) + " more are not listed";
    }
    return table;
  }

  void clear() {
    events_.clear();
    left_out_ = 0;
  }

 private:
  static constexpr std::size_t kMaxEvents = 50'000;

  std::vector<KeySpec> specs_;
  std::span<const Figure<Event>> figures_;
  std::vector<Event> events_;
  std::uint64_t left_out_ = 0;
  std::uint64_t start_ns_ = 0;
};

}  // namespace memtrace
