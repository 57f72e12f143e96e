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
  EXPECT_FALSE(has_note(report, "began before"));
}

Step fault(std::uint32_t cpu, std::uint64_t physical_address) {
  return {.event = "minor-faults",
          .payload = PageFault{.stage = FaultStage::Minor, .physical_address = physical_address},
          .cpu = cpu};
}

Facts facts(std::uint64_t node, const char* name, std::uint64_t value) {
  Facts row;
  row.numbers["node"] = node;
  row.numbers[name] = value;
  return row;
}

// Node 0 has CPU 0 and the first GiB, node 1 CPU 1 and the second.
Observation two_nodes() {
  Observation seen{.reader = "nodes"};
  constexpr std::uint64_t kGibibyte = 1U << 30U;
  for (const std::uint64_t node : {0U, 1U}) {
    seen.rows.push_back(facts(node, "cpu", node));
    seen.rows.push_back(facts(node, "start", node * kGibibyte));
    seen.rows.back().numbers["limit"] = (node + 1) * kGibibyte;
  }
  return seen;
}

TEST(Numa, faults_are_put_to_the_node_of_their_page) {
  EventScript script("numa");
  script.name_process(100, "hog");
  script.world().observations().add(two_nodes());
  script.play({fault(0, 0x1000), fault(0, 0x50000000), fault(1, 0x50001000), fault(1, 0)});
  const Report report = script.finish();
  const Table& nodes = report.tables.at(1);
  const auto* first = find_row(nodes, {text("hog"), number(100), number(0)});
  const auto* second = find_row(nodes, {text("hog"), number(100), number(1)});
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ((*first)[column_index(nodes, "local")], number(1));
  EXPECT_EQ((*second)[column_index(nodes, "faults")], number(2));
  EXPECT_EQ((*second)[column_index(nodes, "local")], number(1));
  EXPECT_EQ((*second)[column_index(nodes, "remote")], number(1));
  EXPECT_TRUE(has_note(report, "the kernel did not report the page of 1 faults"));
}

Step access(std::uint64_t error_code) {
  return {.event = "exceptions:page_fault_user",
          .payload = PageFault{.error_code = error_code, .has_error_code = true}};
}

TEST(Numa, reads_and_writes_are_told_by_the_faults_entries) {
  EventScript script("numa");
  script.name_process(100, "hog");
  script.world().observations().add(two_nodes());
  script.play({access(6), fault(0, 0x1000), access(4), fault(0, 0x2000), access(7)});
  script.play({fault(0, 0x3000), fault(0, 0x4000)});
  const Report report = script.finish();
  const Table& nodes = report.tables.at(1);
  const auto* row = find_row(nodes, {text("hog"), number(100), number(0)});
  ASSERT_TRUE(row != nullptr);
  EXPECT_EQ((*row)[column_index(nodes, "faults")], number(4));
  EXPECT_EQ((*row)[column_index(nodes, "reads")], number(1));
  EXPECT_EQ((*row)[column_index(nodes, "writes")], number(2)) << "the last one has no entry";
}

TEST(Numa, without_entries_the_access_is_blank) {
  EventScript script("numa");
  script.play(fault(0, 0x1000));
  const Report report = script.finish();
  const Table& nodes = report.tables.at(1);
  EXPECT_EQ(nodes.rows.at(0)[column_index(nodes, "reads")], Cell());
}

TEST(Numa, faults_of_other_views_say_nothing) {
  EventScript script("numa");
  script.play({fault(0, 0), fault(0, 0)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables.size(), 1U);
  EXPECT_TRUE(report.inconclusive);
}

TEST(Numa, nodes_that_are_not_known_are_blank) {
  EventScript script("numa");
  script.play(fault(0, 0x1000));
  const Report report = script.finish();
  const Table& nodes = report.tables.at(1);
  ASSERT_EQ(nodes.rows.size(), 1U);
  EXPECT_EQ(nodes.rows[0][column_index(nodes, "node")], Cell());
  EXPECT_EQ(nodes.rows[0][column_index(nodes, "local")], Cell());
  EXPECT_TRUE(has_note(report, "the node of a page is not known"));
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
