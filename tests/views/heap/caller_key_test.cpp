#include "views/heap/caller_key.h"

#include <gtest/gtest.h>

#include "views/kit/group_by.h"

namespace memtrace {
namespace {

struct Calls {
  std::uint64_t count = 0;
};

constexpr auto kFigures = std::to_array<Figure<Calls>>({figure<&Calls::count>("count")});
constexpr auto kNames = std::to_array<std::string_view>({"stack", "caller", "pid"});

constexpr std::uint64_t kMalloc = 1;
constexpr std::uint64_t kNew = 2;
constexpr std::uint64_t kGrow = 3;
constexpr std::uint64_t kMain = 4;

class CallerKey : public testing::Test {
 protected:
  CallerKey() {
    options_.by = {"caller"};
    options_.is_allocation_wrapper = [this](LocationId place) { return place == place_of(kNew); };
  }

  static std::uint64_t address_of(std::uint64_t function) {
    return 0xffffffff81000000U + function * 64;
  }

  LocationId place_of(std::uint64_t function) {
    return world_.intern_kernel_address(address_of(function));
  }

  // The caller's row, of one event with this stack, innermost first.
  Cell caller_in(std::initializer_list<std::uint64_t> functions) {
    std::vector<std::uint64_t> chain;
    for (const std::uint64_t function : functions) {
      chain.push_back(address_of(function));
    }
    Event event;
    event.stack = world_.intern_stack(1, chain);
    GroupBy<Calls> rows(choose_heap_keys(options_, kNames).take());
    rows.row(event) += {1};
    return rows.table(kFigures, CellContext{.world = world_, .span = {}}).rows.at(0).at(0);
  }

  World world_{{}};
  ViewOptions options_;
};

TEST_F(CallerKey, is_who_called_the_allocator) {
  EXPECT_EQ(caller_in({kMalloc, kGrow, kMain}), Cell(place_of(kGrow)));
}

TEST_F(CallerKey, is_no_wrapper) {
  EXPECT_EQ(caller_in({kMalloc, kNew, kGrow, kMain}), Cell(place_of(kGrow)));
  EXPECT_EQ(caller_in({kMalloc, kNew, kNew, kMain}), Cell(place_of(kMain)));
}

TEST_F(CallerKey, is_the_first_where_all_are_wrappers) {
  EXPECT_EQ(caller_in({kMalloc, kNew}), Cell(place_of(kNew)));
}

TEST_F(CallerKey, has_one_row_for_all_places_of_a_function) {
  options_.function_of = [this](LocationId place) {
    return place == place_of(kMain) ? place_of(kGrow) : place;
  };
  EXPECT_EQ(caller_in({kMalloc, kMain}), Cell(place_of(kGrow)));
  EXPECT_EQ(caller_in({kMalloc, kGrow}), Cell(place_of(kGrow)));
  EXPECT_EQ(caller_in({kMalloc}), Cell());
}

TEST_F(CallerKey, is_the_next_where_nothing_is_known_of_wrappers) {
  options_.is_allocation_wrapper = {};
  EXPECT_EQ(caller_in({kMalloc, kNew, kMain}), Cell(place_of(kNew)));
}

TEST_F(CallerKey, is_not_known_of_a_stack_without_callers) {
  EXPECT_EQ(caller_in({kMalloc}), Cell());
  EXPECT_EQ(caller_in({}), Cell());
}

}  // namespace
}  // namespace memtrace
