// How much memory of the zone was free when a compaction had ended, and in how small pieces.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "os/system.h"
#include "state/world/fragmentation.h"

namespace memtrace::zones_reader {
namespace {

std::string heading(std::int32_t node) {
  return "Node " + std::to_string(node) + ", zone";
}

// /proc/zoneinfo has a part for each zone of a node in the order of their numbers, and in it lines
// such as "  pages free     3840", "        min      10" (mm/vmstat.c). The zone's name; empty when
// there is no such zone.
std::string add_marks(const std::string& text, const WorkBegin& place, Facts& facts) {
  std::string name;
  std::int32_t zone = -1;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(heading(place.node))) {
      ++zone;
      name = zone == place.zone ? proc_words(line).back() : std::string_view{name};
    }
    const auto words = proc_words(line);
    if (zone != place.zone || words.size() < 2 || !line.starts_with(" ")) {
      continue;
    }
    const auto pages = parse_number(words.back());
    const std::string_view mark = words[words.size() - 2];
    const bool is_mark = mark == "free" || mark == "min" || mark == "low" || mark == "high";
    if (pages && is_mark && words.size() <= 3) {
      facts.numbers.emplace(mark, *pages * page_size_bytes());
    }
  }
  return name;
}

// "Node 0, zone   Normal   9901   3584 ...": free blocks by order.
std::vector<std::uint64_t> free_blocks(const std::string& text,
                                       std::int32_t node,
                                       const std::string& zone) {
  std::vector<std::uint64_t> blocks;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = proc_words(line);
    if (!line.starts_with(heading(node)) || words.size() < 4 || words[3] != zone) {
      continue;
    }
    for (std::size_t i = 4; i < words.size(); ++i) {
      blocks.push_back(parse_number(words[i]).value_or(0));
    }
  }
  return blocks;
}

void read(const Event& event, const ProcFolder& proc, Observation& observation) {
  const WorkBegin& place = std::get<Work>(event.payload).begin;
  const std::string zone = add_marks(proc.read("zoneinfo"), place, observation.facts);
  const auto blocks = free_blocks(proc.read("buddyinfo"), place.node, zone);
  if (place.order >= 0 && !blocks.empty()) {
    const auto index = fragmentation_index(blocks, static_cast<std::size_t>(place.order));
    observation.facts.texts["fragmentation"] =
        fmt::format("{:.3f}", static_cast<double>(index) / 1000);
  }
}

bool wants(const Event& event) {
  const auto* work = std::get_if<Work>(&event.payload);
  return work != nullptr && work->end.kind == WorkKind::Compaction && work->begin.node >= 0 &&
         work->begin.zone >= 0;
}

}  // namespace
}  // namespace memtrace::zones_reader

namespace memtrace {

constinit const ObservationReader observe_zones{
    .name = "zone", .wants = zones_reader::wants, .read = zones_reader::read};

}  // namespace memtrace
