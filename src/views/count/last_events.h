// The last events of a recording or an interval, one line each: what count --last shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "base/units.h"
#include "views/count/field_keys.h"
#include "views/kit/event_list.h"

namespace memtrace {

class LastEvents {
 public:
  // From the option `last`; none without it. Error: Usage.
  static Result<LastEvents> of(const ViewOptions& options) {
    LastEvents events;
    if (const auto given = options.own.find("last"); given != options.own.end()) {
      const auto most = parse_number(given->second);
      if (!most || *most == 0 || *most > kMaxListed) {
        return Error{.message = "--last " + given->second + ": not a number of events",
                     .hint = "give a number from 1 to " + std::to_string(kMaxListed),
                     .kind = ErrorKind::Usage};
      }
      events.list_ = EventList<Keyed>::of_last(*most);
    }
    return events;
  }

  void add(std::uint64_t time_ns, const KeyWords& words) {
    if (list_) {
      list_->add({time_ns, words});
    }
  }

  bool wanted() const { return list_.has_value(); }

  Table table(const FieldKeys& keys, const CellContext& context) {
    ListColumns<Keyed> columns;
    for (const Column& column : keys.columns()) {
      const std::size_t index = columns.size();
      columns.push_back(
          {column.name, column.unit, [&keys, index](const Keyed& event, const CellContext& shown) {
             return keys.cells(keys.resolve_late(event.words, shown), shown)[index];
           }});
    }
    return list_->table("the last " + counted(list_->size(), "event", "events"),
                        1 + columns.size(),
                        columns,
                        context);
  }

  void clear() {
    if (list_) {
      list_->clear();
    }
  }

 private:
  struct Keyed {
    std::uint64_t time_ns = 0;
    KeyWords words;
  };

  std::optional<EventList<Keyed>> list_;
};

}  // namespace memtrace
