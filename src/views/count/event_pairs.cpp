#include "views/count/event_pairs.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace memtrace {
namespace {

Error bad_pair(const std::string& text, const std::string& why) {
  return {.message = "--pair " + text + ": " + why,
          .hint =
              "give two events, as in kmem:mm_page_alloc(pfn),kmem:mm_page_free(pfn), or "
              "without fields for events of the same thread",
          .kind = ErrorKind::Usage};
}

}  // namespace

std::optional<EventPairs::Side> EventPairs::parse_side(std::string_view text) {
  const std::string_view whole = trim(text);
  const std::size_t open = whole.find('(');
  if (open == std::string_view::npos) {
    return whole.empty() ? std::nullopt : std::optional(Side{std::string(whole), std::nullopt});
  }
  const std::string_view field = whole.substr(open + 1, whole.size() - open - 2);
  if (open == 0 || field.empty() || !whole.ends_with(')')) {
    return std::nullopt;
  }
  return Side{std::string(whole.substr(0, open)), EventField(std::string(field))};
}

Result<std::optional<EventPairs>> EventPairs::of(const ViewOptions& options) {
  const auto given = options.own.find("pair");
  if (given == options.own.end()) {
    return std::optional<EventPairs>();
  }
  const std::string& text = given->second;
  const auto parts = split(text, ',');
  if (parts.size() != 2) {
    return bad_pair(text, "not two events");
  }
  auto first = parse_side(parts[0]);
  auto second = parse_side(parts[1]);
  if (!first || !second) {
    return bad_pair(text, "not two events");
  }
  if (first->field.has_value() != second->field.has_value()) {
    return bad_pair(text, "one has a field and the other has none");
  }
  EventPairs pairs;
  pairs.first_ = std::move(*first);
  pairs.second_ = std::move(*second);
  return std::optional(std::move(pairs));
}

Result<> EventPairs::check(const std::deque<EventType>& types) const {
  for (const Side* side : {&first_, &second_}) {
    const auto type = std::ranges::find(types, side->event, &EventType::name);
    if (types.empty()) {
      return kDone;
    }
    if (type == types.end()) {
      return bad_pair(side->event,
                      "the recording has no such events; record both events of --pair");
    }
    const bool has_format = !type->format.fields.empty();
    if (side->field && has_format && type->format.find(side->field->name()) == nullptr) {
      return bad_pair(side->event, "it has no field '" + side->field->name() + "'");
    }
  }
  return kDone;
}

std::optional<std::uint64_t> EventPairs::link_of(Side& side, const Event& event) {
  if (event.type->name != side.event) {
    return std::nullopt;
  }
  if (!side.field) {
    return event.tid;
  }
  const Field* field = side.field->in(*event.type);
  return field != nullptr && field->kind == FieldKind::Integer
             ? std::optional(field->number(event.raw))
             : std::nullopt;
}

std::optional<EventPairs::Pair> EventPairs::on(const Event& event, const KeyWords& words) {
  // The second first: an event may be both, from one to the next.
  std::optional<Pair> pair;
  if (const auto link = link_of(second_, event)) {
    const auto found = begun_.find(*link);
    if (found == begun_.end()) {
      alone_ += first_.event == second_.event ? 0 : event.weight;
    } else {
      const Begun& begun = found->second;
      pair = {.first = begun.words,
              .duration_ns = event.time_ns - std::min(event.time_ns, begun.time_ns),
              .weight = begun.weight};
      begun_.erase(found);
    }
  }
  if (const auto link = link_of(first_, event)) {
    begun_[*link] = {event.time_ns, event.weight, words};
  }
  return pair;
}

std::vector<std::string> EventPairs::notes() {
  std::vector<std::string> notes;
  if (alone_ > 0) {
    notes.push_back(print_count(alone_) + " of " + second_.event + " had no " + first_.event +
                    " before them");
  }
  if (!begun_.empty()) {
    notes.push_back(print_count(begun_.size()) + " of " + first_.event + " had no " +
                    second_.event + " after them yet");
  }
  alone_ = 0;
  return notes;
}

}  // namespace memtrace
