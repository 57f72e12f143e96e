#include "render/html/html_by_slot.h"

#include <algorithm>
#include <cmath>

#include "base/visible.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;
using Part = Timeline::ReportPart;
using How = Timeline::Joining::How;

Json joining_json(const Timeline::Joining& joining) {
  switch (joining.how) {
    case How::Sum:
      return "sum";
    case How::Largest:
      return "max";
    case How::Least:
      return "min";
    case How::Last:
      return "last";
    case How::Mean:
      return Json::array({joining.sum, joining.count});
    case How::Unknown:
      return nullptr;
  }
  return nullptr;
}

Json figure_json(const std::optional<double>& figure) {
  if (!figure) {
    return nullptr;
  }
  const bool is_whole = std::trunc(*figure) == *figure && std::abs(*figure) < 1e15;
  return is_whole ? Json(static_cast<std::int64_t>(*figure)) : Json(*figure);
}

// One row of numbers: the row, the slot, its figures.
void add_slots(const std::vector<Part::Slot>& slots, int row, Json& amounts) {
  for (const Part::Slot& slot : slots) {
    amounts.push_back(row);
    amounts.push_back(slot.slot);
    for (const auto& figure : slot.figures) {
      amounts.push_back(figure_json(figure));
    }
  }
}

const char* name_of(Part::Kind kind) {
  return kind == Part::Kind::Totals ? "totals" : kind == Part::Kind::Table ? "table" : "histogram";
}

Json part_json(const Part& part) {
  Json joinings = Json::array();
  std::ranges::transform(part.joinings, std::back_inserter(joinings), joining_json);
  Json rows = Json::array();
  Json amounts = Json::array();
  for (const Part::Row& row : part.rows) {
    add_slots(row.slots, static_cast<int>(rows.size()), amounts);
    rows.push_back(row.row);
  }
  add_slots(part.rest, -1, amounts);
  return {{"kind", name_of(part.kind)},
          {"index", part.index},
          {"joinings", std::move(joinings)},
          {"rows", std::move(rows)},
          {"amounts", std::move(amounts)},
          {"unknown_rows", part.unknown_rows}};
}

// Null: nothing is known by slot.
const Timeline::ReportBySlot* find_report(const Timeline* timeline, const Report& report) {
  if (timeline == nullptr) {
    return nullptr;
  }
  const auto found =
      std::ranges::find(timeline->reports, report.view, &Timeline::ReportBySlot::view);
  return found == timeline->reports.end() ? nullptr : &*found;
}

}  // namespace

Json html_by_slot(const Timeline* timeline, const Report& report) {
  Json parts = Json::array();
  if (const auto* found = find_report(timeline, report)) {
    std::ranges::transform(found->parts, std::back_inserter(parts), part_json);
  }
  return parts;
}

Json html_slot_limits(const Timeline* timeline, const Report& report) {
  Json limits = Json::array();
  if (const auto* found = find_report(timeline, report)) {
    std::ranges::transform(found->limits, std::back_inserter(limits), visible);
  }
  return limits;
}

}  // namespace memtrace
