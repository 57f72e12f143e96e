#include "plan/events/comm_filter.h"

#include <gtest/gtest.h>

namespace memtrace::test::comm_filter_test {
namespace {

EventRequest tracepoint(const std::string& name) {
  return {.info = {.name = name, .kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
}

std::string expression(const std::vector<std::string>& names) {
  const auto made = comm_expression(names);
  return made.ok() ? made.value() : "error: " + made.error().message;
}

TEST(CommFilterTest, a_name_is_compared_and_a_pattern_is_matched) {
  EXPECT_EQ(expression({"nginx", "php*"}), "comm == \"nginx\" || comm ~ \"php*\"");
}

TEST(CommFilterTest, a_name_is_cut_as_the_kernel_cuts_it) {
  EXPECT_EQ(expression({"prometheus-node-exporter"}), "comm == \"prometheus-node\"");
}

TEST(CommFilterTest, a_name_cannot_leave_its_quotes) {
  EXPECT_EQ(expression({"a\" || pid > 0 || comm == \"b"}).substr(0, 13), "error: --comm");
  EXPECT_EQ(expression({""}).substr(0, 6), "error:");
}

TEST(CommFilterTest, frees_stay_since_other_threads_free_too) {
  std::vector<EventRequest> requests = {
      tracepoint("kmem:kmalloc"), tracepoint("kmem:kfree"), tracepoint("memtrace_1:free")};
  requests[0].filter = "bytes_req > 8";
  requests[2].on_user_code = true;
  const auto note = filter_by_comm("comm == \"x\" || comm == \"y\"", requests);
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note.value(), "");
  EXPECT_EQ(requests[0].filter, "(bytes_req > 8) && (comm == \"x\" || comm == \"y\")");
  EXPECT_EQ(requests[1].filter, "");
  EXPECT_EQ(requests[2].filter, "");
}

TEST(CommFilterTest, what_the_kernel_cannot_filter_is_named) {
  std::vector<EventRequest> requests = {
      tracepoint("kmem:kmalloc"),
      {.info = {.name = "major-faults", .kind = EventKind::Software}, .type = kTypeSoftware}};
  const auto note = filter_by_comm("comm == \"x\"", requests);
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note.value(),
            "recorded of all threads: major-faults; memtrace report --comm leaves out those of "
            "other threads");
}

TEST(CommFilterTest, events_that_cannot_be_filtered_at_all_are_an_error) {
  std::vector<EventRequest> requests = {tracepoint("kmem:kfree")};
  EXPECT_FALSE(filter_by_comm("comm == \"x\"", requests).ok());
}

}  // namespace
}  // namespace memtrace::test::comm_filter_test
