#include "session/dispatch/view_dispatch.h"

#include <algorithm>
#include <utility>

#include "sections/recording_facts.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/decode/system_calls.h"

namespace memtrace {

bool is_heap_view(const ViewSpec& view) {
  return std::ranges::any_of(view.needs,
                             [](std::string_view need) { return need.starts_with("heap:"); });
}

void ViewDispatch::set_views(std::vector<const ViewSpec*> specs, std::vector<View*> views) {
  specs_ = std::move(specs);
  views_ = std::move(views);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (is_heap_view(*specs_[i])) {
      heap_views_.push_back(i);
    }
  }
}

void ViewDispatch::learn(const std::deque<EventType>& types, const Recording& recording) {
  while (by_event_.size() < types.size()) {
    const EventType& type = types[by_event_.size()];
    by_event_.push_back(&add_kind(type, by_event_.size(), recording));
    counts_.push_back({.name = type.name});
    if (is_raw_call_event(type.name)) {
      add_calls(type, recording);
    }
    needed_.push_back(!by_event_.back()->views.empty() || !is_for_views_alone(type.name));
  }
}

// A view that takes any event also uses events that are only counted.
ViewDispatch::Kind& ViewDispatch::add_kind(const EventType& type,
                                           std::size_t event,
                                           const Recording& recording) {
  const EventType any;
  const bool is_counted = recording.events[event].is_counted;
  Kind& kind = kinds_.emplace_back(Kind{.type = &type, .event = event, .views = {}});
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (handles(*specs_[i], is_counted ? any : type)) {
      kind.views.push_back(i);
    }
  }
  return kind;
}

// A view of all events has had a raw one as it is.
void ViewDispatch::add_calls(const EventType& type, const Recording& recording) {
  const auto filters = parse_recording_facts(recording.about_json).filters;
  const auto filter = filters.find(type.name);
  const std::size_t event = by_event_.size() - 1;
  const auto& calls = *(raw_[event] = std::make_unique<RawCallTypes>(
                            type, filter == filters.end() ? std::string() : filter->second));
  const std::vector<std::size_t> served = by_event_.back()->views;
  for (const EventType* call : calls.recorded()) {
    Kind& kind = add_kind(*call, event, recording);
    std::erase_if(kind.views, [&served](std::size_t view) {
      return std::ranges::find(served, view) != served.end();
    });
    by_call_[call] = &kind;
  }
}

ViewDispatch::Kind* ViewDispatch::call_kind(const Event& event) {
  const auto raw = raw_.empty() ? raw_.end() : raw_.find(event.type->index);
  if (raw == raw_.end()) {
    return nullptr;
  }
  const auto known = by_call_.find(raw->second->type_of(event.call));
  return known == by_call_.end() ? nullptr : known->second;
}

void ViewDispatch::count(const Event& event) {
  Count& count = counts_[event.type->index];
  ++count.samples;
  count.hits += event.weight;
  count.squares += event.weight * event.weight;
  ++by_event_[event.type->index]->samples;
  if (Kind* call = call_kind(event)) {
    ++call->samples;
  }
}

bool ViewDispatch::has_view_for(const Event& event) {
  const Kind* call = call_kind(event);
  return !by_event_[event.type->index]->views.empty() || (call != nullptr && !call->views.empty());
}

void ViewDispatch::give(const Event& event,
                        const std::vector<std::size_t>& views,
                        const World& world,
                        Choice choice) {
  for (const std::size_t view : views) {
    if (choice == Choice::All || specs_[view]->needs_resident_pages) {
      views_[view]->on(event, world);
    }
  }
}

void ViewDispatch::give(const Event& event, const World& world, Choice choice) {
  give(event, by_event_[event.type->index]->views, world, choice);
  if (const Kind* call = call_kind(event)) {
    Event named = event;
    named.type = call->type;
    give(named, call->views, world, choice);
  }
}

void ViewDispatch::dispatch(const Event& event, const World& world) {
  give(event, world, Choice::All);
  if (world.mapped_change() != nullptr) {
    // Not by handles(): a recording of system calls alone is none of the heap.
    for (const std::size_t view : heap_views_) {
      views_[view]->on(event, world);
    }
  }
}

void ViewDispatch::dispatch_unwanted(const Event& event, const World& world) {
  give(event, world, Choice::OfProcesses);
}

std::deque<EventType> ViewDispatch::types() const {
  std::deque<EventType> types;
  for (const Kind& kind : kinds_) {
    types.push_back(*kind.type);
  }
  return types;
}

bool ViewDispatch::wants(std::size_t view, std::size_t event) const {
  return std::ranges::any_of(kinds_, [&](const Kind& kind) {
    return kind.event == event && std::ranges::find(kind.views, view) != kind.views.end();
  });
}

double ViewDispatch::largest_weight(std::size_t view, const Recording& recording) const {
  double largest = 1;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Count& count = counts_[i];
    if (count.samples > 0 && recording.events[i].window_share > 1 && wants(view, i)) {
      return 1;
    }
    if (count.hits > count.samples && !recording.events[i].is_counted && wants(view, i)) {
      // Long periods count by the hits that were recorded with them.
      largest =
          std::max(largest, static_cast<double>(count.squares) / static_cast<double>(count.hits));
    }
  }
  return largest;
}

bool ViewDispatch::rests_on(std::size_t view, const Kind& kind) const {
  const auto rests_on = specs_[view]->rests_on;
  return std::ranges::find(kind.views, view) != kind.views.end() &&
         (rests_on == nullptr || rests_on(*kind.type));
}

bool ViewDispatch::has_events(std::size_t view) const {
  return std::ranges::any_of(
      kinds_, [&](const Kind& kind) { return kind.samples > 0 && rests_on(view, kind); });
}

bool ViewDispatch::is_recorded(std::size_t view) const {
  return std::ranges::any_of(kinds_, [&](const Kind& kind) { return rests_on(view, kind); });
}

}  // namespace memtrace
