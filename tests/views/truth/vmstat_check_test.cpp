#include "views/truth/vmstat_check.h"

#include <gtest/gtest.h>

#include "support/truth_rows.h"

namespace memtrace::test::vmstat_check_test {
namespace {

class VmstatCheckTest : public testing::Test {
 protected:
  VmstatCheckTest() {
    world_.note_all_events(true);
    world_.note_vmstat_growth({{"pgalloc_normal", 10'000}, {"pgalloc_dma32", 20'000}});
    world_.note_own_events({{"kmem:mm_page_alloc", 5'000}});
  }

  Report check(const VmstatCheck::Figure& figure) {
    VmstatCheck check(world_);
    check.add(figure);
    Report report;
    check.add_to(report);
    return report;
  }

  World world_{{}};
};

const VmstatCheck::Figure kPages = {.name = "pages",
                                    .counted = 25'000,
                                    .counters = {"pgalloc_dma32", "pgalloc_none", "pgalloc_normal"},
                                    .hint = "why"};

TEST_F(VmstatCheckTest, counters_are_added_and_a_difference_is_said) {
  const Report report = check(kPages);
  EXPECT_EQ(truth_rows(report),
            (std::vector<std::vector<Cell>>{{std::string("pages"),
                                             std::uint64_t{25'000},
                                             std::string("pgalloc_dma32 + pgalloc_normal"),
                                             std::uint64_t{30'000},
                                             100.0 * 25 / 30}}));
  EXPECT_EQ(report.caveats.notes,
            std::vector<std::string>{"pages is 25,000, but the kernel's pgalloc_dma32 + "
                                     "pgalloc_normal grew by 30,000; why"});
}

TEST_F(VmstatCheckTest, small_differences_and_those_of_under_a_twentieth_are_not_said) {
  VmstatCheck::Figure figure = kPages;
  figure.slack = 5'000;
  EXPECT_TRUE(check(figure).caveats.notes.empty());
  figure.slack = 0;
  figure.counted = 28'500;
  EXPECT_TRUE(check(figure).caveats.notes.empty());
  figure.counted = 28'499;
  EXPECT_EQ(check(figure).caveats.notes.size(), 1U);
}

TEST_F(VmstatCheckTest, own_events_are_taken_off) {
  VmstatCheck::Figure figure = kPages;
  figure.own_event = "kmem:mm_page_alloc";
  const Report report = check(figure);
  ASSERT_EQ(truth_rows(report).size(), 1U);
  EXPECT_EQ(truth_rows(report)[0][3], Cell(std::uint64_t{25'000}));
  EXPECT_TRUE(report.caveats.notes.empty());
  figure.own_event = "kmem:kfree";  // of a recording by perf
  EXPECT_TRUE(truth_rows(check(figure)).empty());
}

TEST_F(VmstatCheckTest, own_events_that_are_perhaps_in_it_allow_for_a_difference) {
  VmstatCheck::Figure figure = kPages;
  figure.own_event = "kmem:mm_page_alloc";
  figure.some_are_own = true;
  const Report report = check(figure);
  ASSERT_EQ(truth_rows(report).size(), 1U);
  EXPECT_EQ(truth_rows(report)[0][2],
            Cell(std::string("pgalloc_dma32 + pgalloc_normal (some by memtrace)")));
  EXPECT_EQ(truth_rows(report)[0][3], Cell(std::uint64_t{30'000}));
  EXPECT_TRUE(report.caveats.notes.empty());
  figure.counted = 22'999;
  EXPECT_EQ(check(figure).caveats.notes.size(), 1U);
}

TEST_F(VmstatCheckTest, nothing_is_said_where_all_that_grew_was_memtraces_own) {
  world_.note_vmstat_growth({{"pgalloc_normal", 5'000}});
  VmstatCheck::Figure figure = kPages;
  figure.own_event = "kmem:mm_page_alloc";
  EXPECT_TRUE(truth_rows(check(figure)).empty());
}

TEST_F(VmstatCheckTest, a_part_of_the_machine_is_not_compared) {
  world_.note_all_events(false);
  EXPECT_TRUE(truth_rows(check(kPages)).empty());
}

}  // namespace
}  // namespace memtrace::test::vmstat_check_test
