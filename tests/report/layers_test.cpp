#include "report/layers.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Layers, each_is_a_frame) {
  EXPECT_EQ(layer_frames("page fault > page allocation"),
            (std::vector<std::string>{"[page fault]", "[page allocation]"}));
  EXPECT_EQ(layer_frames("mmap"), std::vector<std::string>{"[mmap]"});
  EXPECT_TRUE(layer_frames("").empty());
}

}  // namespace
}  // namespace memtrace
