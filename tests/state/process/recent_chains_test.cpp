#include "state/process/recent_chains.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr ChainFrame kMainFrame{.avma = 0x100, .user = true, .is_return_address = true};
constexpr ChainFrame kCallFrame{.avma = 0x200, .user = true, .is_return_address = true};
constexpr ChainFrame kOtherFrame{.avma = 0x300, .user = true, .is_return_address = true};
constexpr ChainFrame kCallItselfFrame{.avma = 0x200, .user = true, .is_return_address = false};

RecentChain chain_of_call() {
  RecentChain chain;
  EXPECT_EQ(chain.keep_common(1, std::array{kCallFrame, kMainFrame}), 0U);
  chain.add(kMainFrame, StackId{1});
  chain.add(kCallFrame, StackId{2});
  return chain;
}

TEST(RecentChain, outermost_frames_in_common_are_kept) {
  RecentChain chain = chain_of_call();
  EXPECT_EQ(chain.keep_common(1, std::array{kCallFrame, kMainFrame}), 2U);
  EXPECT_EQ(chain.stack(), StackId{2});
  EXPECT_EQ(chain.keep_common(1, std::array{kOtherFrame, kOtherFrame, kMainFrame}), 1U);
  EXPECT_EQ(chain.stack(), StackId{1});
  EXPECT_EQ(chain.keep_common(1, std::array{kCallFrame, kMainFrame}), 1U)
      << "the inner ones are forgotten";
}

TEST(RecentChain, a_shorter_chain_keeps_no_more_than_it_has) {
  RecentChain chain = chain_of_call();
  EXPECT_EQ(chain.keep_common(1, std::array{kMainFrame}), 1U);
  EXPECT_EQ(chain.stack(), StackId{1});
}

TEST(RecentChain, an_interrupted_instruction_is_no_return_address) {
  RecentChain chain = chain_of_call();
  EXPECT_EQ(chain.keep_common(1, std::array{kCallItselfFrame, kMainFrame}), 1U);
}

TEST(RecentChain, another_address_space_has_nothing_in_common) {
  RecentChain chain = chain_of_call();
  EXPECT_EQ(chain.keep_common(2, std::array{kCallFrame, kMainFrame}), 0U);
  EXPECT_FALSE(chain.stack().valid());
}

}  // namespace
}  // namespace memtrace
