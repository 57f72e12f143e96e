#include "views/kernel/flow_rows.h"

#include <gtest/gtest.h>

#include <array>

#include "views/kernel/kmem_events.h"

namespace memtrace::flow_rows_test {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"pid"});
constexpr FlowFigure kMost = figure<&FlowCost::max_live_bytes>("max_live_bytes", Unit::Bytes);
constexpr FlowFigure kCrossNode =
    figure_if<&FlowContext::cross_nodes_known, &FlowCost::cross_node>("cross_node");

class FlowRowsTest : public testing::Test {
 protected:
  static FlowRows rows(std::vector<FlowFigure> figures, const ViewOptions& options = {}) {
    return {KeySet::choose(options, kKeys).take(), {.figures = std::move(figures)}, options};
  }

  Event event(std::uint32_t cpu = 0, std::uint64_t weight = 1) const {
    Event event;
    event.type = &type_;
    event.pid = 7;
    event.cpu = cpu;
    event.weight = weight;
    return event;
  }

  static LiveBlock block(std::uint64_t bytes, std::uint32_t cpu = 0) {
    LiveBlock block;
    block.pid = 7;
    block.bytes = block.bytes_req = bytes;
    block.cpu = cpu;
    return block;
  }

  EventType type_;
  World world_{{}};
};

TEST_F(FlowRowsTest, a_free_is_of_the_row_that_allocated_the_block) {
  FlowRows flow = rows({});
  flow.allocate(event(), 64, 40);
  const LiveBlock freed = block(64, 1);
  Event free = event();
  free.pid = 8;
  free.freed = &freed;
  EXPECT_TRUE(flow.release(free));
  free.freed = nullptr;
  EXPECT_FALSE(flow.release(free));
  const FlowCost total = flow.total();
  EXPECT_EQ(total.allocs, 1U);
  EXPECT_EQ(total.bytes_req, 40U);
  EXPECT_EQ(total.frees, 1U);
  EXPECT_EQ(total.freed_bytes, 64U);
  EXPECT_EQ(total.cross_cpu, 1U);
}

TEST_F(FlowRowsTest, maxima_are_kept_only_for_a_column_that_shows_them) {
  const LiveBlock freed = block(64);
  for (const bool shown : {true, false}) {
    FlowRows flow = rows(shown ? std::vector{kMost} : std::vector<FlowFigure>());
    flow.allocate(event(), 64, 64);
    Event free = event();
    free.freed = &freed;
    flow.release(free);
    flow.allocate(event(), 16, 16);
    flow.finish(BlockTable(0), world_);
    EXPECT_EQ(flow.total().max_live_bytes, shown ? 64U : 0U);
  }
}

TEST_F(FlowRowsTest, notes_say_why_figures_are_blank) {
  using Notes = std::vector<std::string>;
  FlowRows flow = rows({});
  EXPECT_EQ(flow.notes(false), Notes{std::string(kNoFreesNote)});
  flow.release(event());
  EXPECT_EQ(flow.notes(false), Notes());
  EXPECT_EQ(flow.notes(true), Notes{std::string(kNoNodesNote)});
  flow.allocate(event(0, 100), 64, 64);
  EXPECT_EQ(flow.notes(false), Notes{std::string(kSampledNote)});
  EXPECT_EQ(rows({kCrossNode}, {.cpu_nodes = {0, 1}}).notes(true),
            Notes{std::string(kNoFreesNote)});
}

}  // namespace
}  // namespace memtrace::flow_rows_test
