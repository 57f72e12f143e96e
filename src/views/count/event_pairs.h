// How long it took from one event to another that belongs to it: what count --pair adds up.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "views/count/field_keys.h"

namespace memtrace {

// Two events belong together when a field of each has the same value or, without fields, when they
// are of the same thread.
class EventPairs {
 public:
  // From the option `pair`, such as "kmem:mm_page_alloc(pfn),kmem:mm_page_free(pfn)"; nothing
  // without it. Error: Usage.
  static Result<std::optional<EventPairs>> of(const ViewOptions& options);

  // Error: Usage, an event or a field that there is not.
  Result<> check(const std::deque<EventType>& types) const;

  struct Pair {
    KeyWords first;  // keys of the first event: its row
    std::uint64_t duration_ns = 0;
    std::uint64_t weight = 1;
  };

  // Something when the event is a second one whose first is known.
  std::optional<Pair> on(const Event& event, const KeyWords& words);

  // Notes: second events without a first, reported once; first ones that wait.
  std::vector<std::string> notes();

 private:
  struct Side {
    std::string event;
    std::optional<EventField> field;
  };

  struct Begun {
    std::uint64_t time_ns = 0;
    std::uint64_t weight = 1;
    KeyWords words;
  };

  static std::optional<Side> parse_side(std::string_view text);
  static std::optional<std::uint64_t> link_of(Side& side, const Event& event);

  Side first_;
  Side second_;
  std::unordered_map<std::uint64_t, Begun> begun_;
  std::uint64_t alone_ = 0;
};

}  // namespace memtrace
