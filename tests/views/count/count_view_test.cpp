#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step wakeup(std::uint64_t value, std::uint64_t second = 0) {
  return {.event = "test:wakeup", .payload = {}, .fields = {value, second}};
}

Step kick() {
  return {.event = "test:kick", .payload = {}};
}

TEST(Count, counts_by_event_unless_asked_otherwise) {
  EventScript script("count");
  script.play({wakeup(1), wakeup(2), kick()});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("test:kick")}, "count"), number(1));
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_EQ(report.tables[0].sort, "count");
  EXPECT_EQ(report.tables[0].weight, "count");
}

TEST(Count, groups_by_who_and_where) {
  EventScript script("count", {.by = {"comm", "pid", "tid", "cpu", "stack"}});
  script.name_process(7, "bash");
  Step step = kick();
  step.pid = 7;
  step.cpu = 3;
  step.stack = 5;
  step.weight = 4;
  script.play(step);
  EXPECT_EQ(
      figure(script.finish(), {text("bash"), number(7), number(7), number(3), stack(5)}, "count"),
      number(4));
}

TEST(Count, numbers_are_signed_where_the_format_says_so) {
  EventScript script("count", {.by = {"delta"}});
  script.add_field("test:wakeup", "delta").is_signed = true;
  script.play({wakeup(static_cast<std::uint64_t>(-5)), wakeup(6)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {std::int64_t{-5}}, "count"), number(1));
  EXPECT_EQ(figure(report, {number(6)}, "count"), number(1));
}

TEST(Count, pointers_are_addresses_and_bytes_are_bytes) {
  EventScript script("count", {.by = {"ptr", "bytes_req"}});
  script.add_field("test:wakeup", "ptr").is_pointer = true;
  script.add_field("test:wakeup", "bytes_req");
  script.play(wakeup(0x1000, 64));
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].columns[0].unit, Unit::Address);
  EXPECT_EQ(report.tables[0].columns[1].unit, Unit::Bytes);
  EXPECT_EQ(figure(report, {number(0x1000), number(64)}, "count"), number(1));
}

TEST(Count, flags_and_symbols_are_printed_by_name) {
  EventScript script("count", {.by = {"flags", "reason"}});
  script.add_field("test:wakeup", "flags").flags = {{1, "A"}, {2, "B"}};
  script.add_field("test:wakeup", "reason").symbols = {{7, "seven"}};
  script.play({wakeup(3, 7), wakeup(3, 7), wakeup(1, 8)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("A|B"), text("seven")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("A"), text("8")}, "count"), number(1));
  EXPECT_EQ(report.tables[0].columns[0].unit, Unit::Text);
}

TEST(Count, powers_of_two_of_a_field_are_rows) {
  EventScript script("count", {.by = {"log2(size)", "log2(delta)"}});
  script.add_field("test:wakeup", "size");
  script.add_field("test:wakeup", "delta").is_signed = true;
  script.play({wakeup(64, 0), wakeup(127, 0), wakeup(128, static_cast<std::uint64_t>(-5))});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].columns[0].name, "log2(size)");
  EXPECT_EQ(report.tables[0].columns[0].unit, Unit::Text);
  EXPECT_EQ(figure(report, {text("64-127"), text("0")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("128-255"), text("negative")}, "count"), number(1));
}

TEST(Count, values_are_distributed_in_each_row_if_there_is_a_key) {
  EventScript script("count", {.by = {"comm"}, .own = {{"hist", "size"}}});
  script.add_field("test:wakeup", "size");
  script.name_process(7, "bash");
  Step step = wakeup(100);
  script.play(step);
  step.pid = 7;
  script.play({step, step});
  const Report report = script.finish();
  ASSERT_EQ(report.tables[0].histograms.size(), 2U);
  const auto found = std::ranges::find(
      report.tables[0].histograms, std::vector<Cell>{"bash"}, &RowHistogram::keys);
  ASSERT_NE(found, report.tables[0].histograms.end());
  ASSERT_EQ(found->histogram.buckets.size(), 1U);
  EXPECT_EQ(found->histogram.buckets[0].count, 2U);
  EXPECT_EQ(report.histograms.at(0).buckets.at(0).count, 3U);
}

TEST(Count, values_are_distributed_as_a_whole_without_a_key) {
  EventScript script("count", {.own = {{"hist", "size"}}});
  script.add_field("test:wakeup", "size");
  script.play(wakeup(100));
  EXPECT_TRUE(script.finish().tables[0].histograms.empty());
}

TEST(Count, text_fields_are_text) {
  EventScript script("count", {.by = {"name"}});
  script.add_field("test:wakeup", "name").kind = FieldKind::Text;
  std::uint64_t letters = 0;
  std::memcpy(&letters, "swap", 4);
  script.play({wakeup(letters), wakeup(letters)});
  EXPECT_EQ(figure(script.finish(), {text("swap")}, "count"), number(2));
}

TEST(Count, event_without_the_field_has_an_unknown_value) {
  EventScript script("count", {.by = {"event", "value"}});
  script.add_field("test:wakeup", "value");
  script.play({wakeup(0), kick()});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("test:wakeup"), number(0)}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("test:kick"), Cell()}, "count"), number(1));
  EXPECT_TRUE(report.caveats.notes.empty());
}

TEST(Count, dot_names_a_field_that_is_called_like_a_key) {
  EventScript script("count", {.by = {"pid", ".pid"}});
  script.add_field("test:wakeup", "pid");
  Step step = wakeup(4242);
  step.pid = 7;
  script.play(step);
  EXPECT_EQ(figure(script.finish(), {number(7), number(4242)}, "count"), number(1));
}

TEST(Count, fields_of_one_name_and_value_are_one_row_whatever_the_event) {
  EventScript script("count", {.by = {"value"}});
  script.add_field("test:wakeup", "value");
  script.add_field("test:kick", "value").is_signed = true;
  Step other = kick();
  other.fields = {9};
  script.play({wakeup(9), other});
  EXPECT_EQ(figure(script.finish(), {number(9)}, "count"), number(2));
}

TEST(Count, sum_adds_up_a_field_and_averages_it_by_weight) {
  EventScript script("count", {.own = {{"sum", "bytes"}}});
  script.add_field("test:wakeup", "bytes");
  Step heavy = wakeup(10);
  heavy.weight = 3;
  script.play({heavy, wakeup(50), kick()});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "sum_bytes"), number(80));
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "avg_bytes"), Cell(20.0));
  EXPECT_EQ(figure(report, {text("test:kick")}, "sum_bytes"), Cell());
  EXPECT_EQ(report.tables[0].sort, "sum_bytes");
  EXPECT_EQ(report.tables[0].columns[column_index(report.tables[0], "sum_bytes")].unit,
            Unit::Bytes);
}

TEST(Count, sum_of_a_signed_field_may_be_negative) {
  EventScript script("count", {.own = {{"sum", "delta"}}});
  script.add_field("test:wakeup", "delta").is_signed = true;
  script.play({wakeup(static_cast<std::uint64_t>(-10)), wakeup(4)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "sum_delta"), Cell(std::int64_t{-6}));
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "avg_delta"), Cell(-3.0));
}

TEST(Count, histogram_has_power_of_two_buckets) {
  EventScript script("count", {.own = {{"hist", "bytes"}}});
  script.add_field("test:wakeup", "bytes");
  Step heavy = wakeup(1);
  heavy.weight = 5;
  script.play({heavy, wakeup(4), wakeup(7), wakeup(8)});
  const Report report = script.finish();
  ASSERT_EQ(report.histograms.size(), 1U);
  EXPECT_EQ(report.histograms[0].unit, Unit::Bytes);
  const auto& buckets = report.histograms[0].buckets;
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets[0].low, 1U);
  EXPECT_EQ(buckets[0].high, 1U);
  EXPECT_EQ(buckets[0].count, 5U);
  EXPECT_EQ(buckets[1].count, 0U);
  EXPECT_EQ(buckets[2].low, 4U);
  EXPECT_EQ(buckets[2].high, 7U);
  EXPECT_EQ(buckets[2].count, 2U);
  EXPECT_EQ(buckets[3].low, 8U);
}

TEST(Count, histogram_reaches_from_zero_to_the_largest_number) {
  EventScript script("count", {.own = {{"hist", "value"}}});
  script.add_field("test:wakeup", "value");
  script.play({wakeup(0), wakeup(~std::uint64_t{0})});
  const auto buckets = script.finish().histograms[0].buckets;
  ASSERT_EQ(buckets.size(), 65U);
  EXPECT_EQ(buckets.front().low, 0U);
  EXPECT_EQ(buckets.front().high, 0U);
  EXPECT_EQ(buckets.back().high, ~std::uint64_t{0});
  EXPECT_EQ(buckets.back().count, 1U);
}

TEST(Count, negative_values_are_kept_out_of_the_histogram_and_told) {
  EventScript script("count", {.own = {{"hist", "delta"}}});
  script.add_field("test:wakeup", "delta").is_signed = true;
  script.play({wakeup(static_cast<std::uint64_t>(-1)), wakeup(1)});
  const Report report = script.finish();
  EXPECT_EQ(report.histograms[0].buckets.size(), 1U);
  EXPECT_TRUE(has_note(report, "1 negative values"));
}

TEST(Count, histogram_of_nothing_is_empty) {
  EventScript script("count", {.own = {{"hist", "value"}}});
  EXPECT_TRUE(script.finish().histograms[0].buckets.empty());
}

TEST(Count, field_that_no_event_has_is_a_usage_error_before_the_first_event) {
  EventScript script("count", {.by = {"comm", "valeu"}});
  script.add_field("test:wakeup", "common_type");
  script.add_field("test:wakeup", "aaa");
  script.add_field("test:wakeup", "value");
  const auto checked = script.check();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::Usage);
  EXPECT_EQ(checked.error().message, "--by valeu: no event has such a field");
  EXPECT_EQ(checked.error().hint, "did you mean value? fields are value, aaa");
  for (const char* option : {"sum", "hist"}) {
    EventScript measuring("count", {.own = {{option, "x"}}});
    measuring.add_field("test:wakeup", "value");
    ASSERT_FALSE(measuring.check().ok()) << option;
    EXPECT_EQ(measuring.check().error().message,
              std::string("--") + option + " x: no event has such a field");
  }
}

TEST(Count, field_of_one_event_of_several_will_do) {
  EventScript script("count", {.by = {".common_type", "delta"}, .own = {{"sum", "value"}}});
  script.add_field("test:wakeup", "value");
  script.add_field("test:other", "delta");
  script.add_field("test:other", "common_type");
  script.type("page-faults");
  EXPECT_TRUE(script.check().ok());
}

TEST(Count, field_of_an_event_whose_format_is_lost_cannot_be_refused) {
  EventScript script("count", {.by = {"delta"}});
  script.add_field("test:wakeup", "value");
  script.type("test:other");
  EXPECT_TRUE(script.check().ok());
}

TEST(Count, software_events_have_no_fields) {
  EventScript script("count", {.by = {"delta"}});
  script.type("page-faults");
  ASSERT_FALSE(script.check().ok());
  EXPECT_EQ(script.check().error().hint, "these events have no fields");
}

TEST(Count, field_that_no_event_has_is_answered_with_those_there_are) {
  EventScript script("count", {.by = {"valeu"}, .own = {{"sum", "x"}, {"hist", "y"}}});
  script.add_field("test:wakeup", "common_type");
  script.add_field("test:wakeup", "value");
  script.play(wakeup(1));
  const Report report = script.finish();
  EXPECT_TRUE(has_note(report, "no event has a field 'valeu'; fields are value"));
  EXPECT_TRUE(has_note(report, "no event has a field 'x'"));
  EXPECT_TRUE(has_note(report, "no event has a field 'y'"));
  EXPECT_FALSE(has_note(report, "common_type"));
}

TEST(Count, sum_of_a_text_field_is_refused_in_a_note) {
  EventScript script("count", {.own = {{"sum", "name"}}});
  script.add_field("test:wakeup", "name").kind = FieldKind::Text;
  script.play(wakeup(1));
  const Report report = script.finish();
  EXPECT_TRUE(has_note(report, "--sum name: the field is not a number"));
  EXPECT_EQ(figure(report, {text("test:wakeup")}, "sum_name"), Cell());
}

TEST(Count, finish_starts_a_new_interval) {
  EventScript script("count", {.own = {{"hist", "value"}}});
  script.add_field("test:wakeup", "value");
  script.play(wakeup(1));
  script.finish();
  const Report second = script.finish();
  EXPECT_EQ(total(second, "count"), 0U);
  EXPECT_TRUE(second.tables[0].rows.empty());
  EXPECT_TRUE(second.histograms[0].buckets.empty());
}

TEST(Count, empty_key_is_a_usage_error) {
  const auto made = find_view("count")->spec.make({.by = {""}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
}

TEST(Count, more_keys_than_a_row_can_have_are_refused) {
  const auto made = find_view("count")->spec.make({.by = {"a", "b", "c", "d", "e", "f", "g"}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace memtrace::test
