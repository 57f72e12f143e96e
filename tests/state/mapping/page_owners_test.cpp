#include "state/mapping/page_owners.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace memtrace::test {
namespace {

using Model = std::map<std::uint64_t, PageOwners::Owner>;

Model all_of(const PageOwners& owners) {
  Model all;
  owners.for_each([&](std::uint64_t page, PageOwners::Owner owner) { all[page] = owner; });
  return all;
}

Model erase_from(Model& model, std::uint64_t first, std::uint64_t limit) {
  Model erased(model.lower_bound(first), model.lower_bound(limit));
  model.erase(model.lower_bound(first), model.lower_bound(limit));
  return erased;
}

TEST(PageOwners, copy_stays_as_it_was) {
  PageOwners parent;
  parent.set(5, 1);
  PageOwners child = parent;
  parent.set(5, 2);
  parent.set(6, 2);
  EXPECT_EQ(all_of(child), (Model{{5, 1}}));
  child.set(7, 3);
  EXPECT_EQ(all_of(parent), (Model{{5, 2}, {6, 2}}));
}

TEST(PageOwners, pages_of_another_are_added_where_there_are_none) {
  PageOwners owners;
  owners.set(5, 1);
  PageOwners other;
  for (const std::uint64_t page : {5U, 6U, 1000U}) {
    other.set(page, 9);
  }
  owners.add(other);
  EXPECT_EQ(all_of(owners), (Model{{5, 1}, {6, 9}, {1000, 9}}));
  EXPECT_EQ(all_of(other), (Model{{5, 9}, {6, 9}, {1000, 9}}));
}

TEST(PageOwners, range_without_end_costs_only_what_there_is) {
  PageOwners owners;
  owners.set(std::uint64_t{1} << 51U, 4);
  std::vector<PageOwners::Owner> erased;
  owners.erase(0, ~std::uint64_t{0}, [&](PageOwners::Owner owner) { erased.push_back(owner); });
  EXPECT_EQ(erased, (std::vector<PageOwners::Owner>{4}));
  EXPECT_TRUE(owners.empty());
}

TEST(PageOwners, ranges_that_overlap_can_be_moved) {
  PageOwners owners;
  for (PageOwners::Owner owner = 1; owner <= 100; ++owner) {
    owners.set(owner, owner);
  }
  owners.move(1, 101, 31);
  for (PageOwners::Owner owner = 1; owner <= 100; ++owner) {
    EXPECT_EQ(owners.at(owner + 30), owner);
  }
  EXPECT_EQ(owners.at(30), PageOwners::kNone);
}

TEST(PageOwners, do_as_a_plain_map_does) {
  std::mt19937 random(7);
  PageOwners owners;
  Model model;
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t first = random() % 400;
    const std::uint64_t limit = first + random() % 150;
    if (step % 3 == 0) {
      std::size_t erased = 0;
      owners.erase(first, limit, [&](PageOwners::Owner) { ++erased; });
      EXPECT_EQ(erased, erase_from(model, first, limit).size());
    } else if (step % 50 == 1) {
      const std::uint64_t to = random() % 400;
      const Model moved = erase_from(model, first, limit);
      owners.move(first, limit, to);
      for (const auto& [page, owner] : moved) {
        model[page - first + to] = owner;
      }
    } else {
      const auto owner = static_cast<PageOwners::Owner>(1 + random() % 5);
      owners.set(first, owner);
      model[first] = owner;
    }
    ASSERT_EQ(all_of(owners), model) << step;
  }
}

}  // namespace
}  // namespace memtrace::test
