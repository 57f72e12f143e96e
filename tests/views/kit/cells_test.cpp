#include "views/kit/cells.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Cells, integers_of_any_size_are_cells_of_their_sign) {
  EXPECT_EQ(cell_of(std::uint8_t{7}), Cell(std::uint64_t{7}));
  EXPECT_EQ(cell_of(7U), Cell(std::uint64_t{7}));
  EXPECT_EQ(cell_of(-7), Cell(std::int64_t{-7}));
}

TEST(Cells, texts_are_copied) {
  EXPECT_EQ(cell_of("brk"), Cell(std::string("brk")));
  EXPECT_EQ(cell_of(std::string_view("brk")), Cell(std::string("brk")));
}

TEST(Cells, what_is_not_known_is_blank_and_not_zero) {
  EXPECT_EQ(when(false, 7U), Cell());
  EXPECT_EQ(when(true, 0U), Cell(std::uint64_t{0}));
  EXPECT_EQ(when(std::optional<std::uint64_t>()), Cell());
  EXPECT_EQ(when(std::optional<std::uint64_t>(0)), Cell(std::uint64_t{0}));
  EXPECT_EQ(when(true, Cell()), Cell());
}

TEST(Cells, values_that_stand_for_nothing_are_blank) {
  EXPECT_EQ(unless_zero(0), Cell());
  EXPECT_EQ(unless_zero(9), Cell(std::uint64_t{9}));
  EXPECT_EQ(unless_empty(""), Cell());
  EXPECT_EQ(unless_empty("x"), Cell(std::string("x")));
  EXPECT_EQ(unless_invalid(LocationId{}), Cell());
  EXPECT_EQ(unless_invalid(LocationId{3}), Cell(LocationId{3}));
}

TEST(Cells, facts_are_numbers_or_texts_and_blank_where_nothing_was_read) {
  const Observation seen{
      .facts = {.numbers = {{"free", 4096}}, .texts = {{"limit", "unlimited"}, {"comm", ""}}}};
  EXPECT_EQ(fact(&seen, "free"), Cell(std::uint64_t{4096}));
  EXPECT_EQ(fact(seen.facts, "limit"), Cell(std::string("unlimited")));
  EXPECT_EQ(fact(seen.facts, "comm"), Cell());
  EXPECT_EQ(fact(seen.facts, "swap"), Cell());
  EXPECT_EQ(fact(static_cast<const Observation*>(nullptr), "free"), Cell());
}

TEST(Cells, parts_of_nothing_are_blank) {
  EXPECT_EQ(quotient_cell(7, 2), Cell(std::uint64_t{3}));
  EXPECT_EQ(quotient_cell(0, 0), Cell());
  EXPECT_EQ(percent_cell(1, 4), Cell(25.0));
  EXPECT_EQ(percent_cell(1, 0), Cell());
}

TEST(Cells, times_count_from_the_start_of_the_report) {
  EXPECT_EQ(since(150, 100), Cell(std::uint64_t{50}));
  EXPECT_EQ(since(50, 100), Cell(std::uint64_t{0}));
}

}  // namespace
}  // namespace memtrace
