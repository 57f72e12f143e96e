#include "support/work_steps.h"

namespace memtrace::test {
namespace {

constexpr WorkKind kMigration = WorkKind::Migration;

std::vector<Step> one(std::uint64_t begin_ns,
                      std::uint64_t end_ns,
                      std::int32_t reason,
                      std::uint64_t pages) {
  return {begin(begin_ns, {.kind = kMigration}),
          end(end_ns, {.kind = kMigration, .pages = pages, .failed = 1, .reason = reason})};
}

TEST(Numa, migrations_by_reason_with_their_time) {
  EventScript script("numa");
  script.add_field("migrate:mm_migrate_pages", "reason").symbols = {{0, "compaction"},
                                                                    {5, "numa_misplaced"}};
  script.play(one(0, 100, 0, 32));
  script.play(one(200, 250, 5, 1));
  script.play(one(300, 380, 5, 2));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("numa_misplaced")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("numa_misplaced")}, "migrated"), number(3));
  EXPECT_EQ(figure(report, {text("numa_misplaced")}, "failed"), number(2));
  EXPECT_EQ(figure(report, {text("numa_misplaced")}, "time_ns"), number(130));
  EXPECT_EQ(figure(report, {text("compaction")}, "max_ns"), number(100));
  EXPECT_EQ(total(report, "numa_migrations"), 3U);
  EXPECT_EQ(total(report, "numa_ns"), 130U);
}

TEST(Numa, many_short_migrations_are_not_rounded_away) {
  EventScript script("numa");
  for (std::uint64_t i = 0; i < 31'000; ++i) {
    script.play(one(i * 1000, i * 1000 + 900, 5, 1));
  }
  EXPECT_EQ(total(script.finish(), "numa_ns"), 31'000U * 900);
}

TEST(Numa, reasons_that_the_format_does_not_name_have_their_kernel_names) {
  EventScript script("numa");
  script.add_field("migrate:mm_migrate_pages", "reason").symbols = {{0, "compaction"}};
  script.play(one(0, 100, 5, 1));
  script.play(one(200, 300, 77, 1));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("numa_misplaced")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("77")}, "count"), number(1));
}

TEST(Numa, without_begins_the_time_is_not_known) {
  EventScript script("numa", {.by = {"pid"}});
  script.type("migrate:mm_migrate_pages");
  ASSERT_TRUE(script.check().ok());
  script.play(end(100, {.kind = kMigration, .pages = 3, .reason = 0}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "migrated"), number(3));
  EXPECT_EQ(figure(report, {number(100)}, "time_ns"), Cell());
  EXPECT_TRUE(has_note(report, "no mm_migrate_pages_start"));
  EXPECT_FALSE(has_note(report, "had begun before"));
}

TEST(Numa, every_key_can_be_asked) {
  for (const std::string_view key : find_view("numa")->spec.keys) {
    EventScript script("numa", {.by = {std::string(key)}});
    script.play(one(0, 10, 0, 1));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
