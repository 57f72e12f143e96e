#include "os/capabilities.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Capabilities, are_named_from_the_mask) {
  EXPECT_EQ(held_capabilities("Name:\tx\nCapEff:\t0000000000200000\n"),
            std::vector<std::string>{"CAP_SYS_ADMIN"});
  EXPECT_EQ(held_capabilities("CapEff:\t0000004000000000\n"),
            std::vector<std::string>{"CAP_PERFMON"});
  EXPECT_TRUE(held_capabilities("CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n").empty());
  EXPECT_TRUE(held_capabilities("").empty());
}

}  // namespace
}  // namespace memtrace
