#include "render/html/html_timeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/visible.h"
#include "render/data/json_cells.h"
#include "render/html/html_frames.h"
#include "report/timeline.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

// Numbers for what sources have in common.
class SourceParts {
 public:
  explicit SourceParts(const Timeline& timeline) : timeline_(timeline) {}

  // -1: none.
  int stack(StackId id) {
    const auto frames = timeline_.stacks.find(id);
    if (frames == timeline_.stacks.end() || frames->second.empty()) {
      return -1;
    }
    const auto [found, is_new] = numbers_.try_emplace(id, static_cast<int>(numbers_.size()));
    if (is_new) {
      Json steps = Json::array();
      std::transform(frames->second.rbegin(),
                     frames->second.rend(),
                     std::back_inserter(steps),
                     [this](const Frame& frame) {
                       return frames_.index_of({.name = visible(frame.function), .frame = &frame});
                     });
      stacks_.push_back(std::move(steps));
    }
    return found->second;
  }

  Json take_stacks() { return std::move(stacks_); }

  Json take_frames() { return frames_.take(); }

 private:
  const Timeline& timeline_;
  HtmlFrames frames_;
  std::unordered_map<StackId, int> numbers_;
  Json stacks_ = Json::array();
};

// The number of a source's process; -1 for several.
int comm_number(const Timeline::Source& source, std::map<std::string, int>& numbers, Json& comms) {
  if (source.is_rest && source.comm.empty()) {
    return -1;
  }
  const auto [found, is_new] = numbers.try_emplace(source.comm, static_cast<int>(numbers.size()));
  if (is_new) {
    comms.push_back(visible(source.comm));
  }
  return found->second;
}

// Of the source with this number.
void add_amounts(const Timeline::Source& source,
                 std::size_t number,
                 std::size_t figure_count,
                 Json& amounts) {
  for (const Timeline::Amount& amount : source.amounts) {
    amounts.push_back(number);
    amounts.push_back(amount.slot);
    for (std::size_t figure = 0; figure < figure_count; ++figure) {
      amounts.push_back(amount.figures[figure]);
    }
  }
}

Json subject_json(const Timeline::Subject& subject, SourceParts& parts) {
  Json figures = Json::array();
  for (const Column& figure : subject.figures) {
    figures.push_back({{"name", figure.name}, {"unit", name_of(figure.unit)}});
  }
  std::map<std::string, int> numbers;
  Json comms = Json::array();
  Json sources = Json::array();
  Json amounts = Json::array();  // one row of numbers: source, slot, figures
  for (const Timeline::Source& source : subject.sources) {
    add_amounts(source, sources.size(), subject.figures.size(), amounts);
    sources.push_back(Json::array({comm_number(source, numbers, comms),
                                   source.is_rest ? -1 : parts.stack(source.stack),
                                   source.is_rest ? 1 : 0}));
  }
  return {{"name", subject.name},
          {"views", subject.views},
          {"figures", std::move(figures)},
          {"has_level", subject.has_level},
          {"comms", std::move(comms)},
          {"sources", std::move(sources)},
          {"amounts", std::move(amounts)}};
}

Json lane_json(const Timeline::Lane& lane) {
  Json values = Json::array();
  for (const auto& value : lane.values) {
    values.push_back(value ? Json(*value) : Json(nullptr));
  }
  return {{"name", lane.name},
          {"unit", name_of(lane.unit)},
          {"level", lane.is_level},
          {"values", std::move(values)}};
}

}  // namespace

Json html_timeline(const Report& report) {
  if (report.timeline == nullptr) {
    return nullptr;
  }
  const Timeline& timeline = *report.timeline;
  const auto at = [&report](std::uint64_t time_ns) {
    return Series::at_ns(time_ns, report.start_ns);
  };
  SourceParts parts(timeline);
  Json subjects = Json::array();
  for (const Timeline::Subject& subject : timeline.subjects) {
    subjects.push_back(subject_json(subject, parts));
  }
  Json lanes = Json::array();
  for (const Timeline::Lane& lane : timeline.lanes) {
    lanes.push_back(lane_json(lane));
  }
  Json marks = Json::array();
  for (const Timeline::Mark& mark : timeline.marks) {
    marks.push_back({{"at_ns", at(mark.time_ns)}, {"text", visible(mark.text)}});
  }
  Json losses = Json::array();
  for (const Timeline::Loss& loss : timeline.losses) {
    losses.push_back(
        {{"from_ns", at(loss.first_ns)}, {"to_ns", at(loss.last_ns)}, {"count", loss.count}});
  }
  return {{"start_ns", at(timeline.start_ns)},
          {"slot_ns", timeline.slot_ns},
          {"slots", timeline.slot_count},
          {"subjects", std::move(subjects)},
          {"lanes", std::move(lanes)},
          {"marks", std::move(marks)},
          {"losses", std::move(losses)},
          {"reported", timeline.reported_slots},
          {"frames", parts.take_frames()},
          {"stacks", parts.take_stacks()}};
}

}  // namespace memtrace
