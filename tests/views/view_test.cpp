// What a view says of itself, and what follows from it for a report.
#include "views/view.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr auto kKmalloc = std::to_array<std::string_view>({"kmem:kmalloc"});
constexpr auto kPages = std::to_array<std::string_view>({"kmem:mm_page_alloc"});
constexpr auto kStackFirst = std::to_array<std::string_view>({"stack", "comm", "caller"});
constexpr auto kCommFirst = std::to_array<std::string_view>({"comm", "stack", "caller"});

ViewSpec spec_of(std::span<const std::string_view> needs, std::span<const std::string_view> keys) {
  return {.summary = "", .needs = needs, .keys = keys, .looks_at_stack_keys_only = true};
}

TEST(ViewTest, first_key_is_what_a_report_is_by_where_none_is_named) {
  EXPECT_TRUE(has_stack_key(spec_of(kPages, kStackFirst), {}));
  EXPECT_FALSE(has_stack_key(spec_of(kPages, kCommFirst), {}));
  EXPECT_TRUE(has_stack_key(spec_of(kPages, kCommFirst), {"comm", "stack"}));
  EXPECT_FALSE(has_stack_key(spec_of(kPages, kStackFirst), {"comm"}));
  EXPECT_FALSE(has_stack_key(spec_of(kPages, {}), {}));
}

TEST(ViewTest, default_keys_come_before_the_first_one) {
  ViewSpec spec = spec_of(kPages, kStackFirst);
  constexpr auto kComm = std::to_array<std::string_view>({"comm"});
  spec.default_by = kComm;
  EXPECT_FALSE(has_stack_key(spec, {}));
}

TEST(ViewTest, caller_is_of_the_stack_but_for_the_slab_allocator) {
  EXPECT_TRUE(has_stack_key(spec_of(kPages, kCommFirst), {"caller"}));
  EXPECT_FALSE(has_stack_key(spec_of(kKmalloc, kCommFirst), {"caller"}));
}

TEST(ViewTest, stacks_are_read_for_keys_for_lists_and_by_views_that_look_at_them) {
  ViewSpec spec = spec_of(kPages, kCommFirst);
  EXPECT_FALSE(needs_stacks(spec, {}));
  EXPECT_TRUE(needs_stacks(spec, {.by = {"stack"}}));
  EXPECT_TRUE(needs_stacks(spec, {.own = {{"trace", ""}}}));
  spec.looks_at_stack_keys_only = false;
  EXPECT_TRUE(needs_stacks(spec, {}));
}

}  // namespace
}  // namespace memtrace
