#include "plan/probes/heap_plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace memtrace {
namespace {

// The libc that this test runs with.
TargetObject own_libc() {
  for (const TargetObject& object : objects_of_process(static_cast<std::uint32_t>(::getpid()))) {
    if (object.mapped_path.find("/libc.so") != std::string::npos) {
      return object;
    }
  }
  ADD_FAILURE() << "this test runs without a libc";
  return {};
}

std::set<std::string> functions_of(const std::vector<HeapProbe>& probes, HeapProbeKind kind) {
  std::set<std::string> functions;
  for (const HeapProbe& probe : probes) {
    if (probe.kind == kind) {
      functions.insert(probe.function);
    }
  }
  return functions;
}

TEST(HeapPlan, calls_returns_and_frees_of_libc_are_probed) {
  const auto probes = plan_heap_probes(own_libc(), {.calls = true, .returns = true, .frees = true});
  const auto calls = functions_of(probes, HeapProbeKind::Call);
  for (const char* function : {"malloc", "calloc", "realloc", "memalign"}) {
    EXPECT_TRUE(calls.contains(function)) << function;
  }
  EXPECT_TRUE(functions_of(probes, HeapProbeKind::Return).contains("malloc"));
  EXPECT_TRUE(functions_of(probes, HeapProbeKind::Free).contains("free"));
  for (const HeapProbe& probe : probes) {
    EXPECT_NE(probe.file_offset, 0U) << probe.function;
  }
}

TEST(HeapPlan, only_what_is_needed_is_probed) {
  const auto probes = plan_heap_probes(own_libc(), {.calls = true});
  EXPECT_FALSE(functions_of(probes, HeapProbeKind::Call).empty());
  EXPECT_TRUE(functions_of(probes, HeapProbeKind::Return).empty());
  EXPECT_TRUE(functions_of(probes, HeapProbeKind::Free).empty());
  EXPECT_TRUE(plan_heap_probes(own_libc(), {}).empty());
}

TEST(HeapPlan, limits_of_sizes_are_filters_of_the_kernel) {
  const auto probes = plan_heap_probes(own_libc(), {.calls = true, .min_bytes = 4096});
  const auto malloc = std::ranges::find_if(probes, [](const HeapProbe& probe) {
    return probe.kind == HeapProbeKind::Call && probe.function == "malloc";
  });
  ASSERT_NE(malloc, probes.end());
  EXPECT_NE(malloc->filter.find("4096"), std::string::npos) << malloc->filter;
}

TEST(HeapPlan, files_without_allocators_have_no_probes) {
  EXPECT_TRUE(plan_heap_probes({.path = "/etc/passwd", .mapped_path = "/etc/passwd"},
                               {.calls = true, .returns = true, .frees = true})
                  .empty());
  EXPECT_TRUE(
      plan_heap_probes({.path = "/no/such/file", .mapped_path = ""}, {.calls = true}).empty());
}

}  // namespace
}  // namespace memtrace
