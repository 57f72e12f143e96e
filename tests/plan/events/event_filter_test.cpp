#include "plan/events/event_filter.h"

#include <gtest/gtest.h>

#include "support/saved_formats.h"

namespace memtrace::test::event_filter_test {
namespace {

using Names = std::vector<std::string>;

EventRequest tracepoint(const std::string& group, const std::string& event) {
  return {.info = {.name = group + ":" + event,
                   .kind = EventKind::Tracepoint,
                   .format = saved_text("6.1", group + ":" + event)},
          .type = kTypeTracepoint};
}

EventRequest software() {
  return {.info = {.name = "page-faults", .kind = EventKind::Software}, .type = kTypeSoftware};
}

TEST(EventFilterTest, fields_are_what_stands_left_of_a_comparison) {
  EXPECT_EQ(fields_of_filter("bytes_req > 4096"), Names{"bytes_req"});
  EXPECT_EQ(fields_of_filter("(a==1||b!=2)&&!(c<=0x10)&&a>3"), (Names{"a", "b", "c"}));
  EXPECT_EQ(fields_of_filter("comm == make && gfp_flags & 16"), (Names{"comm", "gfp_flags"}));
  EXPECT_EQ(fields_of_filter("name ~ \"*x == 1*\" && d.ustring ~ 'e > 1'"), (Names{"name", "d"}));
}

TEST(EventFilterTest, half_an_expression_has_no_fields_and_does_no_harm) {
  for (const char* text : {"", "x", "\"", "a && b", "== 1", "'x == 1", "x.", "&"}) {
    EXPECT_EQ(fields_of_filter(text), Names()) << text;
  }
}

TEST(EventFilterTest, filter_that_an_event_has_already_must_be_true_as_well) {
  std::vector<EventRequest> requests = {tracepoint("kmem", "mm_page_alloc")};
  requests[0].filter = "order >= 9";
  ASSERT_TRUE(apply_filter("migratetype == 1 || order == 10", requests).ok());
  EXPECT_EQ(requests[0].filter, "(order >= 9) && (migratetype == 1 || order == 10)");
}

TEST(EventFilterTest, only_events_with_all_its_fields_get_the_filter) {
  std::vector<EventRequest> requests = {
      tracepoint("kmem", "kmalloc"), tracepoint("kmem", "kfree"), software()};
  const auto note = apply_filter("bytes_req > 4096 && common_pid != 0 && COMM == \"x\"", requests);
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_EQ(requests[0].filter, "bytes_req > 4096 && common_pid != 0 && COMM == \"x\"");
  EXPECT_EQ(requests[1].filter, "");
  EXPECT_EQ(requests[2].filter, "");
  EXPECT_NE(note.value().find("because they lack its fields: kmem:kfree, page-faults"),
            std::string::npos);
}

TEST(EventFilterTest, nothing_is_said_when_all_events_have_the_fields) {
  std::vector<EventRequest> requests = {tracepoint("kmem", "kmalloc")};
  const auto note = apply_filter("bytes_req > 4096", requests);
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note.value(), "");
}

TEST(EventFilterTest, field_that_no_event_has_is_refused_with_the_nearest) {
  std::vector<EventRequest> requests = {tracepoint("kmem", "kmalloc"), software()};
  const auto note = apply_filter("byte_req > 4096", requests);
  ASSERT_FALSE(note.ok());
  EXPECT_EQ(note.error().kind, ErrorKind::Usage);
  EXPECT_NE(note.error().message.find("no event that is recorded has a field 'byte_req'"),
            std::string::npos);
  EXPECT_EQ(note.error().hint, "did you mean bytes_req?");
}

TEST(EventFilterTest, fields_of_different_events_and_software_events_alone_are_refused) {
  std::vector<EventRequest> apart = {tracepoint("kmem", "kmalloc"),
                                     tracepoint("kmem", "mm_page_alloc")};
  EXPECT_FALSE(apply_filter("bytes_req > 1 && order > 1", apart).ok());
  std::vector<EventRequest> none = {software()};
  const auto note = apply_filter("bytes_req > 1", none);
  ASSERT_FALSE(note.ok());
  EXPECT_NE(note.error().hint.find("software events have none"), std::string::npos);
}

TEST(EventFilterTest, expression_without_fields_is_left_to_the_kernel_to_refuse) {
  std::vector<EventRequest> requests = {tracepoint("kmem", "kmalloc")};
  EXPECT_TRUE(apply_filter("what is this", requests).ok());
  EXPECT_EQ(requests[0].filter, "what is this");
}

}  // namespace
}  // namespace memtrace::test::event_filter_test
