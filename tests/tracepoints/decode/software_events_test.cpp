#include "tracepoints/decode/software_events.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <utility>

namespace memtrace {
namespace {

TEST(software_events, numbers_are_the_kernels) {
  const std::pair<const char*, std::uint64_t> expected[] = {
      {"cpu-clock", PERF_COUNT_SW_CPU_CLOCK},
      {"task-clock", PERF_COUNT_SW_TASK_CLOCK},
      {"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
      {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
      {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
      {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
      {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
      {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
      {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
      {"dummy", PERF_COUNT_SW_DUMMY}};
  for (const auto& [name, config] : expected) {
    const auto event = find_software_event(name);
    ASSERT_TRUE(event.has_value()) << name;
    EXPECT_EQ(event->config, config) << name;
  }
  EXPECT_EQ(software_events().size(), std::size(expected));
}

TEST(software_events, short_names_lead_to_full_ones) {
  ASSERT_TRUE(find_software_event("faults").has_value());
  EXPECT_EQ(find_software_event("faults")->name, "page-faults");
  EXPECT_EQ(find_software_event("cs")->name, "context-switches");
}

TEST(software_events, other_names_are_none) {
  EXPECT_FALSE(find_software_event("kmem:kmalloc").has_value());
  EXPECT_FALSE(find_software_event("").has_value());
}

}  // namespace
}  // namespace memtrace
