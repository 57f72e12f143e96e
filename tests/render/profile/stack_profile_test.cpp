#include "render/profile/stack_profile.h"

#include <gtest/gtest.h>

#include "support/sample_report.h"

namespace memtrace {
namespace {

std::vector<std::string> names_of(const StackProfile& profile) {
  std::vector<std::string> names;
  for (const WeightKind& kind : profile.kinds) {
    names.push_back(kind.name);
  }
  return names;
}

TEST(StackProfile, costs_that_add_up_are_its_kinds) {
  const Report report = test::sample_report();
  const auto profiles = stack_profiles(report);
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(names_of(profiles[0]), (std::vector<std::string>{"count", "bytes_alloc"}));
  EXPECT_EQ(profiles[0].kinds[1].unit, Unit::Bytes);
  EXPECT_EQ(profiles[0].main_kind, 1U);
  EXPECT_TRUE(profiles[0].has_stacks);
}

TEST(StackProfile, the_sum_of_the_rows_that_were_cut_is_left_out) {
  const Report report = test::sample_report();
  const auto profiles = stack_profiles(report);
  ASSERT_EQ(profiles.at(0).stacks.size(), 3U);
  EXPECT_EQ(profiles[0].total(0), 1454316);
  EXPECT_EQ(profiles[0].total(1), 1489215488 + 96 + 7);
}

TEST(StackProfile, keys_are_labels_and_steps_and_stacks_begin_outermost) {
  const Report report = test::sample_report();
  const auto profiles = stack_profiles(report);
  const WeightedStack& stack = profiles.at(0).stacks.at(0);
  ASSERT_EQ(stack.labels.size(), 2U);
  EXPECT_EQ(std::get<std::string>(stack.labels[0].value), "demo");
  EXPECT_EQ(stack.labels[1].name, "pid");
  EXPECT_EQ(std::get<std::uint64_t>(stack.labels[1].value), 4711U);
  ASSERT_EQ(stack.steps.size(), 7U);
  EXPECT_EQ(stack.steps[1].name, "pid 4711");
  EXPECT_TRUE(stack.steps[1].is_label);
  EXPECT_EQ(stack.steps[2].name, "main");
  EXPECT_EQ(stack.steps[2].frame->line, 42U);
  EXPECT_EQ(stack.steps[6].name, "__kmalloc_noprof");
}

TEST(StackProfile, layers_are_frames_below_the_stack) {
  Report report = test::sample_report();
  Table& table = report.tables.at(0);
  const auto key = static_cast<std::ptrdiff_t>(table.key_count++);
  table.columns.insert(table.columns.begin() + key, {"layer", Unit::Text});
  for (auto& row : table.rows) {
    row.insert(row.begin() + key, std::string("page fault > swap-in"));
  }
  const WeightedStack stack = stack_profiles(report).at(0).stacks.at(0);
  ASSERT_EQ(stack.steps.size(), 9U);
  EXPECT_EQ(stack.steps[7].name, "[page fault]");
  EXPECT_EQ(stack.steps[8].name, "[swap-in]");
  EXPECT_EQ(stack.labels.size(), 2U) << "a layer is no label";
}

TEST(StackProfile, the_cost_that_the_reader_sorts_by_is_the_main_one) {
  Report report = test::sample_report();
  report.tables[0].sort = "count";
  EXPECT_EQ(stack_profiles(report).at(0).main_kind, 0U);
  report.tables[0].sort = "avg_bytes";  // no sum
  EXPECT_EQ(stack_profiles(report).at(0).main_kind, 1U);
}

TEST(StackProfile, names_may_be_shown_as_they_are) {
  Report report{.tables = {{.columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
                            .key_count = 1,
                            .rows = {{"a\x1b[2J", std::uint64_t{1}}}}}};
  const auto profiles = stack_profiles(report);
  EXPECT_EQ(profiles.at(0).stacks.at(0).steps.at(0).name, "a\\x1b[2J");
  EXPECT_FALSE(profiles[0].has_stacks);
}

TEST(StackProfile, weights_may_be_negative_and_what_is_not_known_weighs_nothing) {
  Report report{
      .tables = {
          {.columns = {{"comm", Unit::Text}, {"change", Unit::Bytes}},
           .key_count = 1,
           .weight = "change",
           .rows = {
               {"a", std::int64_t{-5}}, {"b", Cell()}, {"c", ~std::uint64_t{0}}, {"d", 1.6}}}}};
  const auto profiles = stack_profiles(report);
  EXPECT_EQ(profiles.at(0).stacks.at(0).weights.at(0), -5);
  EXPECT_EQ(profiles[0].stacks[1].weights[0], 0);
  EXPECT_EQ(profiles[0].stacks[2].weights[0], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(profiles[0].stacks[3].weights[0], 2);
}

TEST(StackProfile, each_report_of_an_overview_has_its_own) {
  const Report overview = test::sample_overview();
  const auto profiles = stack_profiles(overview);
  ASSERT_EQ(profiles.size(), 2U);
  EXPECT_EQ(profiles[0].report, &overview.reports[0]);
  EXPECT_EQ(profiles[1].report, &overview.reports[1]);
  EXPECT_EQ(profile_title(profiles[0], 0), "faults: count");
}

TEST(StackProfile, code_is_the_kernels_a_librarys_or_the_programs) {
  const Frame kernel{.function = "f", .kernel = true};
  const Frame library{.function = "f", .module = "libz.so.1.2"};
  const Frame program{.function = "f", .module = "demo"};
  const Frame unknown{.function = "[unknown]"};
  EXPECT_EQ(code_kind({.frame = &kernel}), CodeKind::Kernel);
  EXPECT_EQ(code_kind({.frame = &library}), CodeKind::Library);
  EXPECT_EQ(code_kind({.frame = &program}), CodeKind::Program);
  EXPECT_EQ(code_kind({.frame = &unknown}), CodeKind::None);
  EXPECT_EQ(code_kind({.name = "bash"}), CodeKind::None);
}

}  // namespace
}  // namespace memtrace
