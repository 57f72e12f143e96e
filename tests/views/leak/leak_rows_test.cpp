#include "views/leak/leak_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace memtrace::leak_rows_test {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"comm", "pid"});

class LeakRowsTest : public testing::Test {
 protected:
  static KeySet keys(const char* key) {
    return KeySet::choose(ViewOptions{.by = {key}}, kKeys).take();
  }

  static LiveBlock block(std::uint64_t key, std::uint64_t time_ns, std::uint64_t weight = 1) {
    LiveBlock block;
    block.key = key;
    block.pid = 7;
    block.bytes = 100;
    block.time_ns = time_ns;
    block.weight = weight;
    return block;
  }

  World world_{{}};
  CellContext context_{.world = world_, .span = {.start_ns = 0, .end_ns = 1000}};
  LeakRows rows_{keys("pid"), keys("pid"), Judging::No, {}};
};

TEST_F(LeakRowsTest, a_sampled_block_counts_as_many_as_it_represents) {
  const LiveBlock young = block(0x10, 900);
  const LiveBlock old = block(0x20, 200, 3);
  rows_.set({&young, &old}, context_.span);
  Report report;
  const Table& table = rows_.add_to(report, context_);
  EXPECT_EQ(table.sort, "bytes");
  ASSERT_EQ(table.rows.size(), 1U);
  std::vector<Cell> cells = table.rows.front();
  ASSERT_EQ(cells.size(), 7U);
  // Of 4 blocks, 3 of which are a guess with a variance of 3^2 (1 - 1/3); with 95 % in it.
  EXPECT_NEAR(std::get<double>(cells[5]), 100 * 1.96 * std::sqrt(6) / 4, 1);
  EXPECT_NEAR(std::get<double>(cells[6]), 100 * 1.96 * std::sqrt(6) / 4, 1);
  EXPECT_EQ(table.columns[5].name, "error");
  cells.resize(5);
  EXPECT_EQ(cells,
            (std::vector<Cell>{std::uint64_t{7},
                               std::uint64_t{4},
                               std::uint64_t{400},
                               std::uint64_t{625},
                               std::uint64_t{800}}));
  ASSERT_EQ(report.totals.size(), 2U);
  EXPECT_EQ(report.totals[1].name, "bytes");
  EXPECT_EQ(report.totals[1].value, 400U);
}

// Blocks of windows: all windows alike say that there is little to fear, and one that has all of
// them that the next may have none. Their order does not matter.
TEST_F(LeakRowsTest, the_error_of_blocks_from_windows_is_how_much_the_windows_differ) {
  const auto error_of = [this](std::uint32_t blocks_of_second, std::uint32_t blocks_of_first) {
    std::vector<LiveBlock> blocks;
    for (std::uint32_t i = 0; i < blocks_of_second + blocks_of_first; ++i) {
      const std::uint32_t window = i < blocks_of_second ? 2 : 1;
      blocks.push_back(block(0x100 * (i + 1), window * 100, 16));
      blocks.back().sampling = {.window_share = 16, .window = window};
    }
    std::vector<const LiveBlock*> all;
    for (const LiveBlock& one : blocks) {
      all.push_back(&one);
    }
    LeakRows rows(keys("pid"), keys("pid"), Judging::No, {});
    rows.set(std::move(all), context_.span);
    Report report;
    return std::get<double>(rows.add_to(report, context_).rows.front().at(5));
  };
  const double alike = error_of(5, 5);
  const double unlike = error_of(10, 0);
  EXPECT_GT(alike, 50);  // before the first and behind the last there are none
  EXPECT_GT(unlike, alike * 1.2);
  EXPECT_NEAR(error_of(10, 0), error_of(0, 10), 0.01);
}

TEST_F(LeakRowsTest, addresses_are_listed_oldest_first) {
  const LiveBlock young = block(0x10, 900);
  const LiveBlock old = block(0x20, 200);
  const LiveBlock future = block(0x30, 2000);  // from a clock that runs ahead
  rows_.set({&young, &old, &future}, context_.span);
  const Table table = rows_.address_table(context_);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][0], Cell(std::uint64_t{0x20}));
  EXPECT_EQ(table.rows[1].back(), Cell(std::uint64_t{100}));
  EXPECT_EQ(table.rows[2].back(), Cell(std::uint64_t{0}));
  EXPECT_EQ(table.note, "");
}

TEST_F(LeakRowsTest, addresses_that_are_too_many_are_the_oldest_and_say_so) {
  const std::array blocks = {block(0x10, 900), block(0x20, 200), block(0x30, 300)};
  rows_.set({&blocks[0], &blocks[1], &blocks[2]}, context_.span);
  const Table table = rows_.address_table(context_, 1);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][0], Cell(std::uint64_t{0x20}));
  EXPECT_EQ(table.note, "2 more are not listed");
}

TEST_F(LeakRowsTest, older_takes_seconds_or_a_unit) {
  const auto older = [](const char* text) {
    return parse_older_ns(ViewOptions{.own = {{"older", text}}});
  };
  EXPECT_EQ(parse_older_ns({}).value(), 0U);
  EXPECT_EQ(older("2").value(), 2'000'000'000U);
  EXPECT_EQ(older("200ms").value(), 200'000'000U);
  ASSERT_FALSE(older("old").ok());
  EXPECT_EQ(older("old").error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace memtrace::leak_rows_test
