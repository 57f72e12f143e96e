#include "render/cell_names.h"

namespace memtrace {

const Frames* frames_of(const Report& report, const Cell& cell) {
  if (const auto* stack = std::get_if<StackId>(&cell)) {
    const auto found = report.stacks.find(*stack);
    return found != report.stacks.end() ? &found->second : nullptr;
  }
  if (const auto* location = std::get_if<LocationId>(&cell)) {
    const auto found = report.locations.find(*location);
    return found != report.locations.end() ? &found->second : nullptr;
  }
  return nullptr;
}

std::string location_name(const Report& report, LocationId id) {
  const Frames* frames = frames_of(report, id);
  return frames != nullptr && !frames->empty() ? frames->front().function : std::string();
}

}  // namespace memtrace
