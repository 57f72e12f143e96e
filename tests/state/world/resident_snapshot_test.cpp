#include "state/world/resident_snapshot.h"

#include <gtest/gtest.h>

namespace memtrace::test {
namespace {

TEST(ResidentSnapshot, facts_keep_all_of_it) {
  ResidentSnapshot snapshot{
      .pid = 12, .comm = "database", .rss_bytes = 4 * 4096, .swap_bytes = 8192};
  for (const std::uint64_t page : {0x10U, 0x11U, 0x7f000U, 0x7f002U}) {
    snapshot.add_page(page);
  }
  EXPECT_EQ(snapshot.runs.size(), 3U);
  EXPECT_EQ(*facts_of(snapshot).text("pages"), "10,2;7efee,1;1,1;");
  EXPECT_EQ(resident_snapshot(facts_of(snapshot)), snapshot);
  EXPECT_EQ(resident_snapshot(facts_of({.pid = 1})), ResidentSnapshot{.pid = 1});
}

TEST(ResidentSnapshot, damaged_facts_are_none) {
  const Facts whole = facts_of({.pid = 12, .comm = "x", .runs = {{1, 2}}});
  for (const char* text : {"1",
                           "1,",
                           "1,1",
                           "1;1,",
                           ",;",
                           "x,1;",
                           "-1,1;",
                           "ffffffffffffffff,1;",
                           "1,fffffffffffffff;",
                           "99999999999999999999,1;"}) {
    Facts damaged = whole;
    damaged.texts["pages"] = text;
    EXPECT_FALSE(resident_snapshot(damaged)) << text;
  }
  for (const char* name : {"pid", "rss", "swap"}) {
    Facts damaged = whole;
    damaged.numbers.erase(name);
    EXPECT_FALSE(resident_snapshot(damaged)) << name;
  }
  EXPECT_FALSE(resident_snapshot({}));
}

}  // namespace
}  // namespace memtrace::test
