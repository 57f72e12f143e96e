#include "cli/output/push.h"

#include <gtest/gtest.h>

namespace memtrace::push_unit_test {
namespace {

Report report_of(const std::string& host) {
  Report report{.view = "kmalloc", .start_ns = 5'000'000'000, .end_ns = 7'500'000'000};
  report.clock.wall_start_ns = 1'700'000'000'900'000'000;
  report.origin.host = host;
  return report;
}

TEST(Push, the_address_says_what_whose_and_when) {
  const auto url = push_url({.url = "https://p.example"}, report_of("web-1"));
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url.value(),
            "https://p.example/ingest?name=memtrace.kmalloc%7Bhost%3Dweb-1%7D"
            "&from=1700000000&until=1700000003&format=pprof&spyName=memtrace");
}

TEST(Push, a_name_cannot_add_labels_or_parameters) {
  const auto url = push_url({.url = "https://p.example/"}, report_of("a,b=c}&x=1"));
  ASSERT_TRUE(url.ok());
  EXPECT_NE(url.value().find("/ingest?name=memtrace.kmalloc%7Bhost%3Da_b_c__x_1%7D&from="),
            std::string::npos)
      << url.value();
}

TEST(Push, a_moment_lasts_a_second) {
  Report report = report_of("h");
  report.end_ns = report.start_ns;
  const auto url = push_url({.url = "https://p.example"}, report);
  EXPECT_NE(url.value().find("from=1700000000&until=1700000001"), std::string::npos) << url.value();
}

TEST(Push, a_recording_without_a_time_of_day_is_refused) {
  Report report = report_of("h");
  report.clock.wall_start_ns = 0;
  EXPECT_FALSE(push_url({.url = "https://p.example"}, report).ok());
}

TEST(Push, a_token_does_not_go_over_http_to_another_machine) {
  EXPECT_TRUE(read_push_target("https://p.example", "t").ok());
  EXPECT_TRUE(read_push_target("http://127.0.0.1:4040", "t").ok());
  EXPECT_TRUE(read_push_target("http://[::1]:4040/x", "t").ok());
  EXPECT_TRUE(read_push_target("http://p.example", nullptr).ok());
  EXPECT_FALSE(read_push_target("http://p.example", "t").ok());
  EXPECT_FALSE(read_push_target("http://127.0.0.1@p.example/", "t").ok());
  EXPECT_FALSE(read_push_target("http://127.0.0.1.p.example/", "t").ok());
}

TEST(Push, other_addresses_are_refused) {
  for (const char* url : {"",
                          "p.example",
                          "ftp://p.example",
                          "https://",
                          "https://a b",
                          "file:///x",
                          "https://a\nb"}) {
    EXPECT_FALSE(read_push_target(url, nullptr).ok()) << url;
  }
  EXPECT_FALSE(read_push_target("https://p.example", "two words").ok());
}

}  // namespace
}  // namespace memtrace::push_unit_test
