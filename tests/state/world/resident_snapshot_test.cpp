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

TEST(ResidentSnapshot, facts_keep_the_sizes_of_mappings) {
  ResidentSnapshot snapshot{.pid = 12, .comm = "database"};
  snapshot.parts = {.pss_bytes = 1,
                    .anonymous_bytes = 2,
                    .shared_memory_bytes = 3,
                    .page_table_bytes = 4,
                    .read_from_ns = 5,
                    .read_to_ns = 6,
                    .mappings = {{"[heap]", {.rss_bytes = 4096, .swap_bytes = 16}},
                                 {"/a,b c", {.rss_bytes = 8192}}}};
  EXPECT_EQ(*facts_of(snapshot).text("mappings"), "2000,0,/a,b c\n1000,10,[heap]\n");
  EXPECT_EQ(resident_snapshot(facts_of(snapshot)), snapshot);
  Facts damaged = facts_of(snapshot);
  damaged.texts["mappings"] = "2000,0,/x\n10\nx,1,y\n,,\n3,4";
  const auto read = resident_snapshot(damaged);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->parts.mappings.size(), 1U);
}

TEST(ResidentSnapshot, mappings_without_a_name_have_one) {
  for (const char* path : {"", "//anon", "[anon:pool]"}) {
    EXPECT_EQ(mapping_name(path), "[anon]") << path;
  }
  EXPECT_EQ(mapping_name("/lib/x"), "/lib/x");
  EXPECT_EQ(mapping_name("[stack]"), "[stack]");
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
