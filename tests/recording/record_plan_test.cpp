#include "recording/record_plan.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

RecordOptions options_for(std::vector<std::string> views) {
  auto selected = select_events({.views = std::move(views), .plan_only = true});
  EXPECT_TRUE(selected.ok());
  return {.selected = selected.take(),
          .command_line = {"memtrace", "record"},
          .target_text = "the whole machine"};
}

TEST(RecordPlan, events_memory_and_the_perf_command_are_named) {
  const auto views = std::to_array<std::string>({"faults"});
  const auto plan = describe_plan(options_for({"faults"}), views);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  for (const char* part : {"would record the whole machine into memtrace.data",
                           "minor-faults",
                           "MiB",
                           "perf record"}) {
    EXPECT_NE(plan.value().find(part), std::string::npos) << part << "\n" << plan.value();
  }
}

TEST(RecordPlan, files_are_named_as_they_will_be) {
  const auto views = std::to_array<std::string>({"faults"});
  RecordOptions options = options_for({"faults"});
  options.rotation.is_wanted = true;
  const auto plan = describe_plan(options, views);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  EXPECT_NE(plan.value().find("into memtrace.data.0001 and files that follow it\n"),
            std::string::npos)
      << plan.value();
}

TEST(RecordPlan, what_a_view_lacks_here_is_said) {
  RecordOptions options = options_for({"kmalloc"});
  options.selected.notes.emplace_back("a note of the selection");
  const auto plan = describe_plan(options, {});
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(plan.value().find("a note of the selection"), std::string::npos) << plan.value();
}

}  // namespace
}  // namespace memtrace
