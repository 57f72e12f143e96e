#include "report/difference.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

Report report_of(std::vector<std::vector<Cell>> rows) {
  Report report{.view = "kmalloc", .start_ns = 0, .end_ns = 2'000'000'000};
  report.tables.push_back({.columns = {{"comm", Unit::Text},
                                       {"stack", Unit::Stack},
                                       {"count", Unit::Count},
                                       {"bytes", Unit::Bytes}},
                           .key_count = 2,
                           .sort = "bytes",
                           .rows = std::move(rows)});
  return report;
}

Cell number(std::uint64_t value) {
  return value;
}

Frames frames(const char* function) {
  return {{.function = function, .module = "demo"}};
}

class DifferenceTest : public testing::Test {
 protected:
  DifferenceTest()
      : before_(report_of({{"a", StackId{1}, number(1), number(100)},
                           {"b", StackId{2}, number(1), number(50)},
                           {"same", StackId{1}, number(1), number(7)}})),
        after_(report_of({{"a", StackId{9}, number(9), number(300)},
                          {"same", StackId{9}, number(1), number(7)},
                          {"c", StackId{9}, number(1), number(10)}})) {
    before_.stacks = {{StackId{1}, frames("f")}, {StackId{2}, frames("g")}};
    after_.stacks = {{StackId{9}, frames("f")}};
  }

  std::vector<std::string> lines(const DifferenceOptions& options = {}) {
    auto made = difference(before_, after_, options);
    EXPECT_TRUE(made.ok());
    std::vector<std::string> lines;
    for (const auto& row : made.value().tables.front().rows) {
      const auto& named = made.value().stacks.at(std::get<StackId>(row[1]));
      std::string line = std::get<std::string>(row[0]) + " " + named.front().function + " " +
                         std::get<std::string>(row[2]);
      for (std::size_t i = 3; i < row.size(); ++i) {
        line += std::holds_alternative<double>(row[i])
                    ? " " + std::to_string(std::get<double>(row[i]))
                    : " " + std::to_string(std::get<std::int64_t>(row[i]));
      }
      lines.push_back(line);
    }
    return lines;
  }

  Report before_;
  Report after_;
};

TEST_F(DifferenceTest, rows_are_the_same_by_the_names_on_their_stacks) {
  EXPECT_EQ(
      lines(),
      (std::vector<std::string>{"a f grown 100 300 200", "b g gone 50 0 -50", "c f new 0 10 10"}));
}

TEST_F(DifferenceTest, any_figure_can_be_compared) {
  EXPECT_EQ(lines({.figure = "count", .top = 1}), (std::vector<std::string>{"a f grown 1 9 8"}));
}

TEST_F(DifferenceTest, figures_by_time) {
  after_.end_ns = 6'000'000'000;
  EXPECT_EQ(lines({.scale = DifferenceOptions::Scale::PerSecond, .top = 1}),
            (std::vector<std::string>{"b g gone 25.000000 0.000000 -25.000000"}));
}

// 100 of 157 before, 300 of 317 after.
TEST_F(DifferenceTest, figures_as_shares_of_all) {
  EXPECT_EQ(lines({.scale = DifferenceOptions::Scale::Share, .top = 1}),
            (std::vector<std::string>{"b g gone 31.847134 0.000000 -31.847134"}));
}

// Half a longest pause, or a pause as a share of all, says nothing.
TEST_F(DifferenceTest, figures_that_are_no_sums_stay_as_they_are) {
  using Scale = DifferenceOptions::Scale;
  for (const auto& [name, unit] :
       {std::pair("max_ns", Unit::Nanoseconds), {"waste_percent", Unit::Percent}}) {
    before_.tables[0].columns[3] = {name, unit};
    after_.tables[0].columns[3] = {name, unit};
    for (const Scale scale : {Scale::PerSecond, Scale::Share}) {
      const auto made = difference(before_, after_, {.figure = name, .scale = scale});
      ASSERT_TRUE(made.ok());
      const Table& table = made.value().tables.front();
      EXPECT_EQ(table.columns.back().unit, unit) << name;
      EXPECT_EQ(table.title,
                std::string("change of ") + name + ", the largest first, not " +
                    (scale == Scale::Share ? "as a share" : "per second"));
    }
  }
  EXPECT_EQ(lines({.figure = "waste_percent", .scale = Scale::Share, .top = 1}),
            std::vector<std::string>{"a f grown 100.000000 300.000000 200.000000"})
      << "percentages have digits after the point";
}

// What is there at the end is not more for a longer recording; a part of all it can be.
TEST_F(DifferenceTest, what_is_there_at_the_end_is_not_divided_by_the_time) {
  using Scale = DifferenceOptions::Scale;
  before_.tables[0].columns[3].name = after_.tables[0].columns[3].name = "live_bytes";
  EXPECT_EQ(lines({.figure = "live_bytes", .scale = Scale::PerSecond, .top = 1}),
            std::vector<std::string>{"a f grown 100 300 200"});
  EXPECT_EQ(lines({.figure = "live_bytes", .scale = Scale::Share, .top = 1}),
            std::vector<std::string>{"b g gone 31.847134 0.000000 -31.847134"});
}

// 100 of 2,000,000,000 ns.
TEST_F(DifferenceTest, time_by_second_is_a_part_of_the_time) {
  before_.tables[0].columns[3] = after_.tables[0].columns[3] = {"time_ns", Unit::Nanoseconds};
  const auto made = difference(
      before_, after_, {.figure = "time_ns", .scale = DifferenceOptions::Scale::PerSecond});
  EXPECT_EQ(made.value().tables.front().columns.back().unit, Unit::Percent);
  EXPECT_DOUBLE_EQ(std::get<double>(made.value().tables.front().rows[0][3]), 5e-6);
}

TEST_F(DifferenceTest, what_is_cut_is_counted) {
  const auto made = difference(before_, after_, {.top = 1});
  EXPECT_EQ(made.value().tables.front().note, "2 more rows changed less");
}

TEST_F(DifferenceTest, figure_that_is_not_there_names_those_that_are) {
  const auto made = difference(before_, after_, {.figure = "comm"});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().hint, "figures are count, bytes");
}

TEST_F(DifferenceTest, view_without_a_table_of_keys_cannot_be_compared) {
  EXPECT_FALSE(difference(Report(), after_, {}).ok());
}

}  // namespace
}  // namespace memtrace
