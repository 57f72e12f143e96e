#include "views/path/layers.h"

#include <array>
#include <string_view>

#include "report/layers.h"
#include "views/kit/cells.h"

namespace memtrace {
namespace {

constexpr unsigned kOuterShift = 16;
constexpr unsigned kMiddleShift = 8;
constexpr std::uint64_t kMask = 0xff;

std::string_view name_of(Layer layer) {
  static constexpr auto kNames = std::to_array<std::string_view>({"",
                                                                  "mmap",
                                                                  "mremap",
                                                                  "brk",
                                                                  "munmap",
                                                                  "madvise",
                                                                  "page fault",
                                                                  "page fault of the kernel",
                                                                  "other kernel work",
                                                                  "swap-in",
                                                                  "file read",
                                                                  "page allocation",
                                                                  "direct reclaim",
                                                                  "compaction",
                                                                  "cgroup reclaim"});
  return kNames.at(static_cast<std::size_t>(layer));
}

Layer layer_at(std::uint64_t word, unsigned shift) {
  return static_cast<Layer>((word >> shift) & kMask);
}

// Each layer has bytes of one kind alone.
std::uint64_t own_bytes(const PathCost& cost) {
  return cost.touched + cost.allocated + cost.mapped + cost.reclaimed;
}

// Whether the path goes through the other one, or is the same.
bool goes_through(std::uint64_t path, std::uint64_t other) {
  const LayerPath inner = LayerPath::of_word(path);
  const LayerPath outer = LayerPath::of_word(other);
  const auto passes = [](Layer have, Layer want) { return want == Layer::None || have == want; };
  return inner.outer == outer.outer && passes(inner.middle, outer.middle) &&
         passes(inner.inner, outer.inner);
}

}  // namespace

std::uint64_t LayerPath::word() const {
  return static_cast<std::uint64_t>(outer) << kOuterShift |
         static_cast<std::uint64_t>(middle) << kMiddleShift | static_cast<std::uint64_t>(inner);
}

LayerPath LayerPath::of_word(std::uint64_t word) {
  return {layer_at(word, kOuterShift), layer_at(word, kMiddleShift), layer_at(word, 0)};
}

std::string LayerPath::text() const {
  std::string text;
  for (const Layer layer : {outer, middle, inner}) {
    if (layer != Layer::None) {
      text.append(text.empty() ? "" : kLayerSeparator).append(name_of(layer));
    }
  }
  return text;
}

Layer layer_of(SystemCall call) {
  switch (call) {
    case SystemCall::Mmap:
      return Layer::Mmap;
    case SystemCall::Mremap:
      return Layer::Mremap;
    case SystemCall::Brk:
      return Layer::Brk;
    case SystemCall::Munmap:
      return Layer::Munmap;
    case SystemCall::Madvise:
      return Layer::Madvise;
    default:
      return Layer::None;
  }
}

LayerPath below(Layer outer, WorkKind kind) {
  switch (kind) {
    case WorkKind::DirectReclaim:
    case WorkKind::NodeReclaim:
      return {outer, Layer::PageAlloc, Layer::DirectReclaim};
    case WorkKind::Compaction:
      return {outer, Layer::PageAlloc, Layer::Compaction};
    case WorkKind::MemcgReclaim:
      return {outer, Layer::CgroupReclaim};
    default:
      return {};
  }
}

std::uint64_t LayerSums::whole_time_ns(std::uint64_t word) const {
  std::uint64_t sum = 0;
  for (const auto& [path, cost] : sums_) {
    sum += goes_through(path, word) ? cost.time_ns : 0;
  }
  return sum;
}

std::uint64_t LayerSums::time_ns() const {
  std::uint64_t sum = 0;
  for (const auto& [path, cost] : sums_) {
    sum += cost.time_ns;
  }
  return sum;
}

Table LayerSums::table() const {
  Table table{.title = "layers: time with all that is below, and without (self)",
              .columns = {{"layer", Unit::Text},
                          {"count", Unit::Count},
                          {"time", Unit::Nanoseconds},
                          {"self", Unit::Nanoseconds},
                          {"of_all", Unit::Percent},
                          {"bytes", Unit::Bytes}},
              .key_count = 1,
              .fixed = true};
  const std::uint64_t all_ns = time_ns();
  for (const auto& [word, cost] : sums_) {
    table.rows.push_back({LayerPath::of_word(word).text(),
                          cost.count,
                          whole_time_ns(word),
                          cost.time_ns,
                          percent_cell(cost.time_ns, all_ns),
                          unless_zero(own_bytes(cost))});
  }
  return table;
}

}  // namespace memtrace
