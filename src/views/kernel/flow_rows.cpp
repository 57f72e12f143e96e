#include "views/kernel/flow_rows.h"

#include <algorithm>
#include <utility>

#include "views/kernel/kmem_events.h"

namespace memtrace {

Result<FlowOptions> FlowOptions::of(const ViewOptions& options,
                                    Result<std::vector<FlowFigure>> figures) {
  if (!figures.ok()) {
    return figures.take_error();
  }
  return FlowOptions{.figures = figures.take(),
                     .summary = options.own.contains("summary"),
                     .short_gfp = options.own.contains(std::string(kShortGfpOption.name))};
}

FlowRows::FlowRows(const KeySet& keys, FlowOptions flow, const ViewOptions& options)
    : rows_(keys),
      row_sizes_(options, keys.size(), "sizes", Unit::Bytes),
      flow_(std::move(flow)),
      tasks_(options.tasks),
      page_size_bytes_(options.page_size_bytes),
      nodes_(options.cpu_nodes) {
  const auto is_maximum = [](const FlowFigure& figure) {
    return figure.name.starts_with("max_live");
  };
  if (std::ranges::any_of(flow_.figures, is_maximum)) {
    maxima_.emplace(keys);
  }
}

FlowCost& FlowRows::row(const Event& event) {
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  return rows_.row(event);
}

void FlowRows::allocate(const Event& event, std::uint64_t bytes, std::uint64_t bytes_req) {
  FlowCost& cost = row(event);
  cost.allocs += event.weight;
  cost.bytes += event.weight * bytes;
  cost.bytes_req += event.weight * bytes_req;
  row_sizes_.add(rows_.keys(), event, bytes, event.weight);
  if (maxima_) {
    maxima_->allocate(event, bytes, bytes_req);
  }
}

bool FlowRows::release(const Event& event) {
  frees_seen_ = true;
  if (event.freed == nullptr) {
    return false;
  }
  const LiveBlock& block = *event.freed;
  FlowCost& cost = rows_.row(block);
  cost.frees += event.weight;
  cost.freed_bytes += event.weight * block.bytes;
  cost.cross_cpu += event.cpu != block.cpu ? event.weight : 0;
  cost.cross_node += nodes_.differ(event.cpu, block.cpu) ? event.weight : 0;
  if (maxima_) {
    maxima_->free(block);
  }
  return true;
}

// From the world and not from allocs - frees: bulk frees are not traced in 5.10 and 6.1, and the
// world forgets such a block when its address is given out again. Memory of each CPU is in no slab
// cache: its events go to kleaks alone.
void FlowRows::finish(const BlockTable& live, const World& world) {
  live.for_each([&](const LiveBlock& block) {
    if (block.kind == BlockKind::PerCpu || !tasks_.accepts(world, block)) {
      return;
    }
    FlowCost& cost = rows_.row(block);
    ++cost.live_blocks;
    cost.live_pages += block.bytes / page_size_bytes_;
    cost.live_bytes += block.bytes;
    cost.live_req += block.bytes_req;
  });
  if (maxima_) {
    maxima_->add_to(rows_);
  }
}

FlowContext FlowRows::context(const World& world, View::Span span) const {
  return {
      {.world = world, .span = span, .gfp_flags = gfp_flags_.names()}, frees_seen_, nodes_.known()};
}

std::vector<std::string> FlowRows::notes(bool shows_nodes) const {
  std::vector<std::string> notes;
  if (!frees_seen_) {
    notes.emplace_back(kNoFreesNote);
  }
  if (sampled_) {
    notes.emplace_back(kSampledNote);
  }
  if (!nodes_.known() && (shows_nodes || has_figure(flow_.figures, "cross_node"))) {
    notes.emplace_back(kNoNodesNote);
  }
  return notes;
}

void FlowRows::begin_interval() {
  rows_.clear();
  if (maxima_) {
    maxima_->begin_interval();
  }
}

}  // namespace memtrace
