#include "tracepoints/decode/alternatives.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace memtrace {
namespace {

using Names = std::vector<std::string>;

// A kernel that has these events.
std::function<bool(std::string_view)> kernel_with(std::set<std::string, std::less<>> events) {
  return [events](std::string_view name) { return events.contains(name); };
}

Names choose(std::vector<std::string_view> needs, std::set<std::string, std::less<>> events) {
  const auto chosen = choose_events(needs, kernel_with(std::move(events)));
  return chosen.ok() ? chosen.value() : Names{"error: " + chosen.error().message};
}

TEST(choose_events, first_alternative_that_exists_is_taken) {
  EXPECT_EQ(choose({"a:b|c:d|e:f"}, {"c:d", "e:f"}), Names{"c:d"});
  EXPECT_EQ(choose({"a:b|c:d"}, {"a:b", "c:d"}), Names{"a:b"});
}

TEST(choose_events, need_that_ends_in_a_bar_may_be_missing) {
  EXPECT_EQ(choose({"kmem:kmalloc", "kmem:kmalloc_node|"}, {"kmem:kmalloc"}),
            Names{"kmem:kmalloc"});
  EXPECT_EQ(choose({"kmem:kmalloc", "kmem:kmalloc_node|"}, {"kmem:kmalloc", "kmem:kmalloc_node"}),
            (Names{"kmem:kmalloc", "kmem:kmalloc_node"}));
}

TEST(choose_events, software_events_exist_everywhere_under_their_full_names) {
  EXPECT_EQ(choose({"exceptions:page_fault_user|faults", "minor-faults"}, {}),
            (Names{"page-faults", "minor-faults"}));
}

TEST(choose_events, each_event_is_chosen_once_in_the_order_of_the_needs) {
  EXPECT_EQ(choose({"c:d", "a:b|c:d", "a:b", "faults", "page-faults"}, {"a:b", "c:d"}),
            (Names{"c:d", "a:b", "page-faults"}));
}

TEST(choose_events, pattern_is_passed_on_as_it_is) {
  EXPECT_EQ(choose({"vmscan:*|kmem:mm_vmscan*"}, {"kmem:mm_vmscan*"}), Names{"kmem:mm_vmscan*"});
}

TEST(choose_events, error_names_every_unmet_need_with_its_alternatives) {
  EXPECT_EQ(choose({"a:b|c:d", "e:f", "x:y"}, {"x:y"}),
            Names{"error: this kernel has no event a:b or c:d, nor e:f"});
  const std::array<std::string_view, 1> needs = {"a:b"};
  const auto chosen = choose_events(needs, kernel_with({}));
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().kind, ErrorKind::Failed);
  EXPECT_FALSE(chosen.error().hint.empty());
}

TEST(choose_events, nothing_needed_is_nothing_chosen) {
  EXPECT_EQ(choose({}, {"a:b"}), Names{});
}

// Where the kernel has no events for each system call.
TEST(choose_events, calls_are_told_by_number_where_none_has_an_event_of_its_own) {
  const std::vector<std::string_view> needs = {"syscalls:sys_enter_mmap",
                                               "syscalls:sys_exit_mmap",
                                               "syscalls:sys_enter_brk|",
                                               "kmem:kmalloc"};
  EXPECT_EQ(choose(needs, {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "kmem:kmalloc"}),
            (Names{"raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "kmem:kmalloc"}));
  EXPECT_EQ(choose(needs, {"syscalls:sys_enter", "syscalls:sys_exit", "kmem:kmalloc"}),
            (Names{"syscalls:sys_enter", "syscalls:sys_exit", "kmem:kmalloc"}));
}

TEST(choose_events, a_call_alone_without_an_event_does_not_exist_in_this_kernel) {
  const std::set<std::string, std::less<>> events = {
      "syscalls:sys_enter_mmap", "syscalls:sys_enter_*", "raw_syscalls:sys_enter"};
  EXPECT_EQ(choose({"syscalls:sys_enter_mmap", "syscalls:sys_enter_clone3|"}, events),
            Names{"syscalls:sys_enter_mmap"});
}

TEST(choose_events, clone_had_no_event_of_its_own_where_others_had) {
  const std::set<std::string, std::less<>> events = {
      "syscalls:sys_enter_mmap", "syscalls:sys_enter_*", "syscalls:sys_enter"};
  EXPECT_EQ(choose({"syscalls:sys_enter_clone|"}, events), Names{"syscalls:sys_enter"});
}

TEST(choose_events, it_is_known_what_a_substitute_stands_for) {
  const std::array<std::string_view, 1> needs = {"sdt:*:x|syscalls:sys_exit_brk"};
  const auto states = examine_needs(needs, kernel_with({"raw_syscalls:sys_exit"}));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].chosen, "raw_syscalls:sys_exit");
  EXPECT_EQ(states[0].stands_for, "syscalls:sys_exit_brk");
}

}  // namespace
}  // namespace memtrace
