// Maps events to the views that want them, and counts each event.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "decode/raw_call_types.h"
#include "perf/record/recording.h"
#include "views/view.h"

namespace memtrace {

// Of what programs allocate: what they map themselves is part of it.
bool is_heap_view(const ViewSpec& view);

class ViewDispatch {
 public:
  // The counts of one event of the recording.
  struct Count {
    std::string name;
    std::uint64_t samples = 0;
    std::uint64_t hits = 0;     // samples times the period
    std::uint64_t squares = 0;  // of the periods, added up
  };

  // `views` were made of `specs`; both in the same order.
  void set_views(std::vector<const ViewSpec*> specs, std::vector<View*> views);

  // What is new since the last call. A view is asked once for each kind of event whether it wants
  // it. `types` stay where they are.
  void learn(const std::deque<EventType>& types, const Recording& recording);

  void count(const Event& event);

  // A view takes the recording's event of this number, or the state of the world depends on it.
  bool needs(std::size_t event) const { return event >= needed_.size() || needed_[event]; }

  // Some view takes it.
  bool has_view_for(const Event& event);
  // To each view that handles the event, and to those of the heap if it changed what programs map
  // themselves.
  void dispatch(const Event& event, const World& world);

  // The same of an event of a task that is not reported, to views of what is resident: their
  // processes are chosen as wholes at the end, and other threads and tasks change them, too.
  void dispatch_unwanted(const Event& event, const World& world);

  // A view's kinds of events, raw system calls by their own names.
  std::deque<EventType> types() const;

  const std::vector<Count>& counts() const { return counts_; }

  // The view wants the recording's event of this number.
  bool wants(std::size_t view, std::size_t event) const;
  // How many hits a sample counts for, of the event of the view that was sampled most sparsely: 1
  // where all were recorded, and where the kernel counted by itself. 1 as well where some were
  // watched in windows: how these differ, the view's own rows alone know.
  double largest_weight(std::size_t view, const Recording& recording) const;
  // There were such events that the view has something to say of.
  bool has_events(std::size_t view) const;
  // There may have been.
  bool is_recorded(std::size_t view) const;

 private:
  // One kind of event: of the recording, or one system call of a raw event.
  struct Kind {
    const EventType* type = nullptr;
    std::size_t event = 0;  // its number in the recording
    std::vector<std::size_t> views;
    std::uint64_t samples = 0;
  };

  enum class Choice : std::uint8_t { All, OfProcesses };

  void give(const Event& event, const World& world, Choice choice);
  void give(const Event& event,
            const std::vector<std::size_t>& views,
            const World& world,
            Choice choice);
  Kind& add_kind(const EventType& type, std::size_t event, const Recording& recording);
  void add_calls(const EventType& type, const Recording& recording);
  // nullptr when it is none of a raw event.
  Kind* call_kind(const Event& event);
  bool rests_on(std::size_t view, const Kind& kind) const;

  std::vector<const ViewSpec*> specs_;
  std::vector<View*> views_;
  std::vector<std::size_t> heap_views_;
  std::deque<Kind> kinds_;
  std::vector<Kind*> by_event_;
  std::vector<bool> needed_;  // by the recording's event
  std::vector<Count> counts_;
  std::map<std::size_t, std::unique_ptr<RawCallTypes>> raw_;  // by the recording's event
  std::map<const EventType*, Kind*> by_call_;
};

}  // namespace memtrace
