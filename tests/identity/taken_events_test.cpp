#include "identity/taken_events.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

class TakenEventsTest : public testing::Test {
 protected:
  void exec(std::uint32_t pid, std::string_view name) {
    taken_.see({.payload = Comm{.pid = pid, .tid = pid, .exec = true, .name = name}});
  }

  void map(std::uint32_t pid) { taken_.see({.payload = Mmap{.pid = pid, .tid = pid}}); }

  void exit(std::uint32_t pid, std::uint32_t tid) {
    taken_.see({.payload = Exit{.pid = pid, .tid = tid}});
  }

  TakenEvents taken_;
};

TEST_F(TakenEventsTest, a_program_that_exits_before_it_was_mapped_was_taken) {
  exec(7, "su");
  map(8);
  exit(7, 9);
  exit(7, 7);
  ASSERT_EQ(taken_.notes().size(), 1U);
  EXPECT_NE(taken_.notes()[0].find("of 1 process when it "), std::string::npos);
  EXPECT_NE(taken_.notes()[0].find("(su)"), std::string::npos);
}

TEST_F(TakenEventsTest, a_program_that_ran_was_not) {
  exec(7, "sh");
  map(7);
  exit(7, 7);
  exit(8, 8);
  taken_.see({.payload = Comm{.pid = 9, .tid = 9, .exec = false, .name = "worker"}});
  exit(9, 9);
  EXPECT_TRUE(taken_.notes().empty());
}

}  // namespace
}  // namespace memtrace
