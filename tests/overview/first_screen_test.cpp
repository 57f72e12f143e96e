#include "overview/first_screen.h"

#include <gtest/gtest.h>

#include "support/event_script.h"
#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;

Report screen_of(FakeSource& source, const std::string& arguments = "") {
  auto screen = make_first_screen(source, {}, arguments);
  EXPECT_TRUE(screen.ok());
  return screen.ok() ? screen.take() : Report();
}

class FirstScreenTest : public testing::Test {
 protected:
  void SetUp() override {
    source_.add(5, Comm{.pid = 100, .tid = 100, .name = "demo"});
    source_.add_kmalloc(10, {.pid = 100});
    source_.add_kmalloc(40, {.pid = 100, .period = 3});
  }

  FakeSource source_;
};

TEST_F(FirstScreenTest, says_what_was_recorded) {
  source_.edit().about_json = to_json({.target = "process 12"});
  const Report screen = screen_of(source_);
  EXPECT_EQ(screen.view, "overview");
  EXPECT_EQ(screen.title, "recording of process 12");
  EXPECT_EQ(test::total(screen, "samples"), 2U);
}

TEST_F(FirstScreenTest, findings_come_with_the_command_that_shows_more) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    source_.add_kmalloc(50 + i, {.pid = 100, .period = 100});
  }
  const Report screen = screen_of(source_, " -i 'a b'");
  const Table& table = screen.tables.front();
  EXPECT_EQ(table.title, "findings");
  ASSERT_FALSE(table.rows.empty());
  EXPECT_EQ(std::get<std::string>(table.rows.back()[2]),
            "memtrace report slab --by cache --comm demo -i 'a b'");
}

TEST_F(FirstScreenTest, without_findings_it_says_so_and_where_it_looked) {
  FakeSource empty;
  const Report screen = screen_of(empty);
  EXPECT_EQ(screen.tables.front().title, "nothing stands out");
  EXPECT_TRUE(screen.tables.front().rows.empty());
}

}  // namespace
}  // namespace memtrace
