// count --pair and --last: times between two events, and events one by one.
#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step event_of(std::string name, std::uint64_t at_ns, std::uint64_t value) {
  return {.event = std::move(name), .payload = {}, .at_ns = at_ns, .fields = {value}};
}

EventScript pair_script(const std::string& pair, std::vector<std::string> by = {"event"}) {
  EventScript script("count", {.by = std::move(by), .own = {{"pair", pair}}});
  script.add_field("my:begin", "id");
  script.add_field("my:end", "id");
  return script;
}

TEST(CountPair, time_is_from_the_one_to_the_other_with_the_same_value) {
  EventScript script = pair_script("my:begin(id),my:end(id)");
  ASSERT_TRUE(script.check().ok());
  script.play({event_of("my:begin", 100, 1),
               event_of("my:begin", 150, 2),
               event_of("my:end", 400, 2),
               event_of("my:end", 1100, 1)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("my:begin")}, "pairs"), number(2));
  EXPECT_EQ(figure(report, {text("my:begin")}, "time_ns"), number(1250));
  EXPECT_EQ(figure(report, {text("my:begin")}, "max_ns"), number(1000));
  EXPECT_EQ(figure(report, {text("my:end")}, "pairs"), number(0));
  EXPECT_EQ(figure(report, {text("my:end")}, "avg_ns"), Cell());
}

TEST(CountPair, without_fields_both_are_of_one_thread) {
  EventScript script = pair_script("my:begin,my:end", {"pid"});
  Step other = event_of("my:end", 300, 9);
  other.pid = 200;
  script.play({event_of("my:begin", 100, 1), other, event_of("my:end", 500, 2)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "time_ns"), number(400));
  EXPECT_TRUE(has_note(report, "1 of my:end had no my:begin before them"));
}

TEST(CountPair, what_has_begun_may_end_in_a_later_interval) {
  EventScript script = pair_script("my:begin(id),my:end(id)");
  script.play(event_of("my:begin", 100, 1));
  EXPECT_TRUE(has_note(script.finish(), "1 of my:begin had no my:end after them yet"));
  script.play(event_of("my:end", 700, 1));
  EXPECT_EQ(figure(script.finish(), {text("my:begin")}, "time_ns"), number(600));
}

TEST(CountPair, an_event_may_be_paired_with_the_next_of_its_kind) {
  EventScript script = pair_script("my:begin(id),my:begin(id)");
  script.play({event_of("my:begin", 100, 1), event_of("my:begin", 150, 1)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("my:begin")}, "pairs"), number(1));
  EXPECT_EQ(figure(report, {text("my:begin")}, "time_ns"), number(50));
}

TEST(CountPair, bad_pairs_are_usage_errors) {
  const auto make = find_view("count")->spec.make;
  for (const char* pair : {"a", "a,b,c", "a(x),b", "a(x,b(x)", "a(),b()", ",b"}) {
    const auto made = make({.own = {{"pair", pair}}});
    ASSERT_FALSE(made.ok()) << pair;
    EXPECT_EQ(made.error().kind, ErrorKind::Usage) << pair;
  }
  EXPECT_FALSE(pair_script("my:begin,my:finish").check().ok());
  EXPECT_FALSE(pair_script("my:begin(id),my:end(ip)").check().ok());
}

TEST(CountLast, lists_the_last_events_in_the_order_of_time) {
  EventScript script("count", {.by = {"pid", "id"}, .own = {{"last", "2"}}});
  script.add_field("my:begin", "id");
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    script.play(event_of("my:begin", 1000 * id, id));
  }
  const Report report = script.finish({.start_ns = 500, .end_ns = 9000});
  ASSERT_EQ(report.tables.size(), 2U);
  const Table& last = report.tables[1];
  ASSERT_EQ(last.rows.size(), 2U);
  EXPECT_EQ(last.rows[0], (std::vector<Cell>{number(1500), number(100), number(2)}));
  EXPECT_EQ(last.rows[1], (std::vector<Cell>{number(2500), number(100), number(3)}));
  EXPECT_TRUE(script.finish().tables[1].rows.empty());
}

TEST(CountLast, bad_numbers_are_usage_errors) {
  for (const char* last : {"0", "-1", "many", "1000001"}) {
    const auto made = find_view("count")->spec.make({.own = {{"last", last}}});
    ASSERT_FALSE(made.ok()) << last;
    EXPECT_EQ(made.error().kind, ErrorKind::Usage) << last;
  }
}

}  // namespace
}  // namespace memtrace::test
