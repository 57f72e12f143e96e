// The views once more, for what they say of each slot of the timeline: they get the same events as
// those whose reports are of the whole, and are asked at the end of each slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/dispatch/view_dispatch.h"
#include "timeline/slot_rows.h"
#include "timeline/timeline_collector.h"
#include "views/all/all_views.h"

namespace memtrace {

class SlotViews {
 public:
  // Which outlives it.
  explicit SlotViews(TimelineCollector& timeline, const SlotBounds& bounds = {})
      : timeline_(timeline), bounds_(bounds) {}

  // `is_filtered`: rows are left out of the reports of the whole, and are no rows of slots either.
  // Error: Usage.
  Result<> add_view(const NamedView& view, const ViewOptions& options, bool is_filtered);
  // Behind the last view.
  Result<> check(const std::deque<EventType>& types);

  // Each record, before it changes the world: a slot that has ended by its time is reported.
  void before(std::uint64_t time_ns, const World& world);

  // Each event, before on(), wanted or not. An early one is of the time before the report.
  void learn(const std::deque<EventType>& types, const Recording& recording) {
    dispatch_.learn(types, recording);
  }

  void count(const Event& event, bool is_early);
  void on(const Event& event, const World& world);

  // Behind the last event.
  void end(const World& world, std::uint64_t end_ns);

  // What the parts of these reports are by slot. They have been arranged; one that is of no view
  // has the table of events.
  void add_to(Timeline& timeline, const std::vector<const Report*>& reports) const;

 private:
  // The parts of one view's report, by kind and title.
  using PartKey = std::pair<Timeline::ReportPart::Kind, std::string>;
  using Parts = std::map<PartKey, SlotRows>;

  struct SlotView {
    std::string name;
    const ViewSpec* spec = nullptr;
    std::unique_ptr<View> view;
    Parts parts;
    bool is_too_slow = false;
  };

  void end_round(const World& world, std::uint64_t end_ns);
  void add_report(std::uint32_t round, Report& report, Parts& parts);
  SlotRows& rows_of(Parts& parts, Timeline::ReportPart::Kind kind, const std::string& title) const;
  void add_events(std::uint32_t round);
  // `view`: null for the table of events.
  Timeline::ReportBySlot by_slot(const Report& report,
                                 const SlotView* view,
                                 const std::vector<std::uint32_t>& slots) const;
  std::vector<std::string> limits_of(const SlotView* view) const;

  TimelineCollector& timeline_;
  SlotBounds bounds_;
  std::deque<SlotView> views_;
  ViewDispatch dispatch_;
  Parts events_;
  std::vector<ViewDispatch::Count> counted_;  // up to the last round
  std::vector<std::uint64_t> rounds_;         // when each began
  std::optional<std::uint64_t> round_start_ns_;
  std::uint64_t live_blocks_ = 0;     // as far as events say
  std::uint64_t visited_blocks_ = 0;  // by a view that looks at all of them in each round
  bool is_filtered_ = false;
};

}  // namespace memtrace
