#include "session/dispatch/slot_views.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"
#include "timeline/slot_part.h"

namespace memtrace {
namespace {

using Kind = Timeline::ReportPart::Kind;
using ReportOf = ViewSpec::ReportOf;

// Totals and histograms as tables.
Table table_of(const std::vector<Total>& totals) {
  Table table;
  std::vector<Cell>& row = table.rows.emplace_back();
  for (const Total& total : totals) {
    table.columns.push_back({total.name, total.unit});
    row.emplace_back(total.value);
  }
  return table;
}

Table table_of(const Histogram& histogram) {
  Table table{.columns = {{"low", histogram.unit}, {"high", histogram.unit}, {"count"}},
              .key_count = 2};
  for (const Histogram::Bucket& bucket : histogram.buckets) {
    table.rows.push_back({Cell(bucket.low), Cell(bucket.high), Cell(bucket.count)});
  }
  return table;
}

// The page cuts lists by the times of their rows.
bool is_list(const Table& table) {
  return std::ranges::find(table.columns, Unit::Moment, &Column::unit) != table.columns.end();
}

}  // namespace

Result<> SlotViews::add_view(const NamedView& view, const ViewOptions& options, bool is_filtered) {
  is_filtered_ = is_filtered;
  auto made = make_view(view.spec, options);
  if (!made.ok()) {
    return made.take_error();
  }
  views_.push_back(
      {.name = std::string(view.name), .spec = &view.spec, .view = made.take(), .parts = {}});
  return kDone;
}

Result<> SlotViews::check(const std::deque<EventType>& types) {
  std::vector<const ViewSpec*> specs;
  std::vector<View*> views;
  for (const SlotView& view : views_) {
    TRY(view.view->check(types));
    specs.push_back(view.spec);
    views.push_back(view.view.get());
  }
  dispatch_.set_views(std::move(specs), std::move(views));
  return kDone;
}

void SlotViews::before(std::uint64_t time_ns, const World& world) {
  const std::uint64_t start_ns = timeline_.slot_start_of(time_ns);
  if (round_start_ns_ && start_ns > timeline_.slot_start_of(*round_start_ns_)) {
    end_round(world, start_ns);
    round_start_ns_.reset();
  }
}

void SlotViews::count(const Event& event, bool is_early) {
  if (!is_early) {
    timeline_.slot_of(event.time_ns);  // which may make slots wider
    round_start_ns_ = round_start_ns_.value_or(event.time_ns);
  }
  dispatch_.count(event);
}

void SlotViews::on(const Event& event, const World& world) {
  const bool allocates = std::holds_alternative<HeapAlloc>(event.payload) ||
                         std::holds_alternative<SlabAlloc>(event.payload) ||
                         std::holds_alternative<PageAlloc>(event.payload);
  live_blocks_ += allocates ? 1 : 0;
  live_blocks_ -= event.freed != nullptr && live_blocks_ > 0 ? 1 : 0;
  dispatch_.dispatch(event, world);
}

void SlotViews::end(const World& world, std::uint64_t end_ns) {
  if (round_start_ns_) {
    end_round(world, end_ns);
  }
}

void SlotViews::end_round(const World& world, std::uint64_t end_ns) {
  const auto round = static_cast<std::uint32_t>(rounds_.size());
  const View::Span span{*round_start_ns_, end_ns};
  rounds_.push_back(*round_start_ns_);
  visited_blocks_ += live_blocks_;
  for (SlotView& view : views_) {
    view.is_too_slow = view.spec->needs_live_blocks && visited_blocks_ > bounds_.visited_blocks;
    if (view.is_too_slow) {
      view.parts.clear();
      continue;
    }
    Report report = view.view->finish(world, span);
    add_report(round, report, view.parts);
  }
  add_events(round);
}

SlotRows& SlotViews::rows_of(Parts& parts, Kind kind, const std::string& title) const {
  return parts.try_emplace({kind, title}, bounds_).first->second;
}

void SlotViews::add_report(std::uint32_t round, Report& report, Parts& parts) {
  Table totals = table_of(report.totals);
  rows_of(parts, Kind::Totals, "").add(round, totals);
  for (const Histogram& histogram : report.histograms) {
    Table buckets = table_of(histogram);
    rows_of(parts, Kind::Histogram, histogram.title).add(round, buckets);
  }
  for (Table& table : report.tables) {
    if (!is_list(table)) {
      rows_of(parts, Kind::Table, table.title).add(round, table);
    }
  }
}

void SlotViews::add_events(std::uint32_t round) {
  Table table{.columns = {{"event", Unit::Text}, {"samples"}, {"count"}}, .key_count = 1};
  counted_.resize(dispatch_.counts().size());
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    const ViewDispatch::Count& now = dispatch_.counts()[i];
    table.rows.push_back({Cell(now.name),
                          Cell(now.samples - counted_[i].samples),
                          Cell(now.hits - counted_[i].hits)});
  }
  counted_ = dispatch_.counts();
  rows_of(events_, Kind::Table, "events").add(round, table);
}

std::vector<std::string> SlotViews::limits_of(const SlotView* view) const {
  std::vector<std::string> limits;
  if (view != nullptr && view->is_too_slow) {
    limits.emplace_back(
        "There are too many live blocks to read all of them at the end of each slot.");
  }
  for (const auto& [key, rows] : view == nullptr ? events_ : view->parts) {
    if (rows.is_cut()) {
      limits.push_back(fmt::format("The part '{}' has too many rows: memtrace keeps {} by slot.",
                                   key.second.empty() ? "totals" : key.second,
                                   print_count(bounds_.entries)));
    }
  }
  return limits;
}

Timeline::ReportBySlot SlotViews::by_slot(const Report& report,
                                          const SlotView* view,
                                          const std::vector<std::uint32_t>& slots) const {
  const Parts& parts = view == nullptr ? events_ : view->parts;
  const ReportOf report_of = view == nullptr ? ReportOf::SinceLast : view->spec->report_of;
  Timeline::ReportBySlot found{.view = report.view, .parts = {}, .limits = limits_of(view)};
  const auto add = [&](Kind kind, std::size_t index, const std::string& title, const Table& whole) {
    const auto rows = parts.find({kind, title});
    auto part = rows == parts.end()
                    ? std::nullopt
                    : SlotPart(rows->second, whole, slots, report_of).make(!is_filtered_);
    if (part) {
      part->kind = kind;
      part->index = index;
      found.parts.push_back(std::move(*part));
    }
  };
  add(Kind::Totals, 0, "", table_of(report.totals));
  for (std::size_t i = 0; i < report.histograms.size(); ++i) {
    add(Kind::Histogram, i, report.histograms[i].title, table_of(report.histograms[i]));
  }
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    add(Kind::Table, i, report.tables[i].title, report.tables[i]);
  }
  return found;
}

void SlotViews::add_to(Timeline& timeline, const std::vector<const Report*>& reports) const {
  std::vector<std::uint32_t> slots;
  for (const std::uint64_t start_ns : rounds_) {
    slots.push_back(timeline_.slot_of(start_ns));
  }
  for (const Report* report : reports) {
    const auto view = std::ranges::find(views_, report->view, &SlotView::name);
    timeline.reports.push_back(by_slot(*report, view == views_.end() ? nullptr : &*view, slots));
  }
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  timeline.reported_slots = std::move(slots);
}

}  // namespace memtrace
