// Which events a recording has for which view of a session.
#include <algorithm>

#include "pipeline/session.h"

namespace memtrace {
namespace {

bool is_sampled(const EventInfo& info) {
  return !info.is_tracking && info.period != 1;
}

}  // namespace

// Which views want which event is asked once for each event.
void Session::learn_handlers() {
  for (std::size_t i = handlers_.size(); i < feed_.types().size(); ++i) {
    const EventType& type = feed_.types()[i];
    counts_.push_back({.name = type.name});
    std::vector<View*>& views = handlers_.emplace_back();
    for (std::size_t v = 0; v < views_.size(); ++v) {
      if (options_.views[v]->spec.handles(type)) {
        views.push_back(views_[v].get());
      }
    }
  }
}

std::vector<Session::EventCount> Session::event_counts() const {
  return counts_;
}

bool Session::view_is_sampled(std::size_t view_index) const {
  for (std::size_t i = 0; i < handlers_.size(); ++i) {
    const auto& views = handlers_[i];
    const bool handled =
        std::find(views.begin(), views.end(), views_[view_index].get()) != views.end();
    if (handled && is_sampled(source_.recording().events[i])) {
      return true;
    }
  }
  return false;
}

bool Session::view_has_events(std::size_t view_index) const {
  const auto rests_on = options_.views[view_index]->spec.rests_on;
  for (std::size_t i = 0; i < handlers_.size(); ++i) {
    const auto& views = handlers_[i];
    const bool handled =
        std::find(views.begin(), views.end(), views_[view_index].get()) != views.end();
    const bool counts = rests_on == nullptr || rests_on(feed_.types()[i]);
    if (handled && counts && counts_[i].samples > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace memtrace
