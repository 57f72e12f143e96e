// The last events of a recording or an interval, one line each: what count --last shows.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/units.h"
#include "views/count/field_keys.h"
#include "views/kit/cells.h"

namespace memtrace {

class LastEvents {
 public:
  // From the option `last`; none without it. Error: Usage.
  static Result<LastEvents> of(const ViewOptions& options) {
    LastEvents events;
    if (const auto given = options.own.find("last"); given != options.own.end()) {
      const auto most = parse_number(given->second);
      if (!most || *most == 0 || *most > kMaxEvents) {
        return Error{.message = "--last " + given->second + ": not a number of events",
                     .hint = "give a number from 1 to 1000000",
                     .kind = ErrorKind::Usage};
      }
      events.most_ = *most;
    }
    return events;
  }

  void add(std::uint64_t time_ns, const KeyWords& words) {
    if (most_ == 0) {
      return;
    }
    if (events_.size() == most_) {
      events_.pop_front();
    }
    events_.emplace_back(time_ns, words);
  }

  bool wanted() const { return most_ > 0; }

  // Times are counted from the start of the span.
  Table table(const FieldKeys& keys, const CellContext& context) const {
    Table table{.title = "the last " + counted(events_.size(), "event", "events"),
                .columns = {{"at_ns", Unit::Nanoseconds}},
                .fixed = true};
    const std::vector<Column> columns = keys.columns();
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    table.key_count = table.columns.size();
    for (const auto& [time_ns, words] : events_) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row.push_back(since(time_ns, context.span.start_ns));
      const std::vector<Cell> cells = keys.cells(keys.resolve_late(words, context), context);
      row.insert(row.end(), cells.begin(), cells.end());
    }
    return table;
  }

  void clear() { events_.clear(); }

 private:
  static constexpr std::uint64_t kMaxEvents = 1'000'000;

  std::size_t most_ = 0;
  std::deque<std::pair<std::uint64_t, KeyWords>> events_;
};

}  // namespace memtrace
