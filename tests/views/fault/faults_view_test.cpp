#include "views/fault/fault_script.h"

namespace memtrace::test {
namespace {

const ViewOptions kByAccessAndClass = {.by = {"access", "class"}};

TEST(Faults, entry_and_end_of_one_page_are_one_fault_at_the_entrys_stack) {
  EventScript script("faults");
  script.play({entry(0x5000), minor(0x5000), entry(0x6000), major(0x6000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "minor"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "major"), number(1));
  EXPECT_EQ(total(report, "count"), 2U);
  EXPECT_EQ(total(report, "minor"), 1U);
  EXPECT_EQ(total(report, "major"), 1U);
  EXPECT_TRUE(report.caveats.notes.empty());
}

TEST(Faults, access_is_of_the_error_code_and_class_of_the_end) {
  EventScript script("faults", kByAccessAndClass);
  script.play({entry(0x1000, kRead),
               minor(0x1008),
               entry(0x2000, kWrite),
               minor(0x2000),
               entry(0x3000, kExec),
               major(0x3000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(report, {text("read"), text("minor")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("write"), text("minor")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("exec"), text("major")}, "count"), number(1));
}

TEST(Faults, list_has_the_code_of_each) {
  EventScript script("faults", {.by = {"mode"}, .own = {{"trace", "1"}}});
  script.play({kernel_entry(0x1000), minor(0x1000, kKernelIp), entry(0x2000)});
  script.finish();  // the last one has no end
  const Table list = script.lines();
  ASSERT_EQ(list.rows.size(), 2U);
  const std::size_t code = column_index(list, "code");
  const auto* place = std::get_if<LocationId>(&list.rows[0][code]);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(script.world().stacks().location(*place).offset, kKernelIp);
  EXPECT_FALSE(script.world().stacks().location(*place).is_return_address);
  EXPECT_EQ(list.rows[1][code], Cell()) << "no code is mapped there";
}

TEST(Faults, threads_do_not_end_each_others_faults) {
  EventScript script("faults", {.by = {"tid", "class"}});
  script.play({by_thread(101, entry(0x1000)),
               by_thread(102, entry(0x1000)),
               by_thread(102, major(0x1000)),
               by_thread(101, minor(0x1000))});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, {number(101), text("minor")}, "count"), number(1));
  EXPECT_EQ(figure(report, {number(102), text("major")}, "count"), number(1));
}

TEST(Faults, open_fault_outlives_thousands_of_threads) {
  EventScript script("faults", {.by = {"class"}});
  constexpr std::uint32_t kThreads = 3000;
  script.play({at(1000, by_thread(100, entry(0x1000)))});
  for (std::uint32_t i = 1; i <= kThreads; ++i) {
    script.play({by_thread(100 + i, entry(0x1000)), by_thread(100 + i, minor(0x1000))});
  }
  script.play({at(9000, by_thread(100, major(0x1000)))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("minor")}, "count"), number(kThreads));
  EXPECT_EQ(figure(report, {text("major")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("major")}, "time"), number(8000));
}

TEST(Faults, without_percentiles_have_all_other_figures) {
  EventScript script("faults", {.without_percentiles = true});
  script.play({at(1000, entry(0x5000)), at(3000, minor(0x5000))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "time"), number(2000));
  EXPECT_EQ(figure(report, {stack(1)}, "max"), number(2000));
  EXPECT_EQ(figure(report, {stack(1)}, "p50"), Cell());
  EXPECT_EQ(figure(report, {stack(1)}, "p99"), Cell());
}

TEST(Faults, entry_without_an_end_failed) {
  EventScript script("faults", {.by = {"class"}});
  script.play({entry(0x1000), entry(0x2000), minor(0x2000), entry(0x3000)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("failed")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("minor")}, "count"), number(1));
}

TEST(Faults, same_page_twice_without_an_end_is_two_faults) {
  EventScript script("faults");
  script.play({entry(0x1000), entry(0x1000)});
  EXPECT_EQ(total(script.finish(), "count"), 2U);
}

TEST(Faults, entries_alone_leave_the_class_unknown) {
  EventScript script("faults", kByAccessAndClass);
  script.play({entry(0x1000, kRead), entry(0x2000, kRead)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("read"), text("unknown")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("read")}, "minor"), Cell());
  EXPECT_TRUE(has_note(report, "minor or major is not known"));
}

TEST(Faults, ends_alone_leave_the_access_unknown) {
  EventScript script("faults", kByAccessAndClass);
  script.play({minor(0x1000), major(0x2000)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("unknown"), text("minor")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("unknown"), text("major")}, "major"), number(1));
  EXPECT_TRUE(has_note(report, "whether faults read or wrote is not known"));
}

TEST(Faults, end_of_another_page_is_a_fault_of_its_own) {
  EventScript script("faults", {.by = {"class"}});
  script.play({entry(0x1000), minor(0x9000), minor(0x1000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {text("minor")}, "count"), number(2));
}

TEST(Faults, software_entries_alone_are_counted) {
  EventScript script("faults");
  script.play({software(0x1000), software(0x1000), software(0x2000)});
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "count"), number(3));
}

TEST(Faults, both_entry_events_of_a_fault_are_one_in_either_order) {
  EventScript script("faults", kByAccessAndClass);
  script.play({entry(0x1000, kWrite),
               software(0x1000),
               minor(0x1000),
               software(0x2000),
               entry(0x2000, kWrite),
               minor(0x2000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {text("write"), text("minor")}, "count"), number(2));
}

TEST(Faults, both_entry_events_without_ends_are_one_for_each_fault) {
  EventScript script("faults");
  script.play({entry(0x1000), software(0x1000), entry(0x1000), software(0x1000)});
  EXPECT_EQ(total(script.finish(), "count"), 2U);
}

TEST(Faults, faults_of_kernel_code_are_left_out_and_noted) {
  EventScript script("faults");
  script.play({kernel_entry(0x1000), minor(0x1000, kKernelIp), minor(0x2000, kKernelIp)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 0U);
  EXPECT_TRUE(report.tables[0].rows.empty());
  EXPECT_TRUE(has_note(report, "2 faults of kernel code"));
  EXPECT_FALSE(has_note(script.finish(), "of kernel code"));
}

TEST(Faults, by_mode_counts_user_and_kernel_faults) {
  EventScript script("faults", {.by = {"mode"}});
  script.play({entry(0x1000), minor(0x1000), kernel_entry(0x2000), software(0x3000, kKernelIp)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("user")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("kernel")}, "count"), number(2));
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_FALSE(has_note(report, "kernel code"));
}

TEST(Faults, page_key_is_the_page_of_the_recorded_machine) {
  EventScript script("faults", {.by = {"page"}, .page_size_bytes = 65536});
  script.play({entry(0x10123), entry(0x15000), entry(0x20000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].columns[0].unit, Unit::Address);
  EXPECT_EQ(figure(report, {number(0x10000)}, "count"), number(2));
  EXPECT_EQ(figure(report, {number(0x20000)}, "count"), number(1));
}

TEST(Faults, fault_under_way_at_the_end_of_an_interval_is_counted_once) {
  EventScript script("faults", {.by = {"class"}});
  script.play({entry(0x1000), minor(0x1000), entry(0x2000)});
  EXPECT_EQ(total(script.finish(), "count"), 2U);
  script.play({software(0x2000), major(0x2000), entry(0x3000), minor(0x3000)});
  const Report second = script.finish();
  EXPECT_EQ(total(second, "count"), 1U);
  EXPECT_EQ(total(second, "minor"), 1U);
  EXPECT_EQ(total(second, "major"), 1U);
  EXPECT_EQ(figure(second, {text("major")}, "count"), number(0));
  EXPECT_EQ(second.tables[0].rows.size(), 2U);
}

TEST(Faults, samples_weigh_what_they_stand_for_and_unmatched_ends_add_no_fault) {
  EventScript script("faults", {.by = {"class"}});
  script.play({weighing(10, entry(0x1000)), weighing(10, minor(0x9000))});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 10U);
  EXPECT_EQ(total(report, "minor"), 10U);
  EXPECT_EQ(figure(report, {text("unknown")}, "count"), number(10));
  EXPECT_TRUE(has_note(report, "one in N"));
}

TEST(Faults, sampled_ends_alone_are_counted) {
  EventScript script("faults");
  script.play(weighing(10, minor(0x1000)));
  EXPECT_EQ(total(script.finish(), "count"), 10U);
}

TEST(Faults, unknown_key_is_a_usage_error) {
  const auto made = find_view("faults")->spec.make({.by = {"clas"}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
  EXPECT_EQ(made.error().hint, "did you mean class?");
}

TEST(Faults, every_key_makes_a_row) {
  for (const std::string_view key : find_view("faults")->spec.keys) {
    EventScript script("faults", {.by = {std::string(key)}});
    script.play({entry(0x1000), minor(0x1000)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
