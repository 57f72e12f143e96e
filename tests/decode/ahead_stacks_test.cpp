// A thread that reads a recording ahead makes the stacks that its user would make.
#include "decode/ahead_stacks.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace memtrace {
namespace {

constexpr auto kUserChain = std::to_array<std::uint64_t>({kContextUser, 0x400100, 0x400200});

class AheadStacksTest : public testing::Test {
 protected:
  AheadStacksTest() {
    recording_.events.push_back({.name = "page-faults"});
    recording_.events.push_back({.name = "minor-faults"});
  }

  static Record mapping(std::string_view path) {
    return {.payload = Mmap{.pid = 10, .start = 0x400000, .length_bytes = 0x10000, .path = path}};
  }

  static Record sample(std::uint32_t event) {
    return {.payload = Sample{.event = event, .pid = 10, .callchain = kUserChain}};
  }

  // What is there of a record when the thread has worked on it.
  Record ahead(Record record) {
    ahead_.on(record);
    return record;
  }

  // `count` samples like this, the stack of each `nth` of which is asked for.
  void use(const Record& like, std::uint32_t count, std::uint32_t nth) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto event = decoder_.apply(ahead(like));
      if (i % nth == 0) {
        EXPECT_TRUE(event->stack.valid());
      }
    }
  }

  StackId stack_of(const Record& record) { return decoder_.apply(record)->stack.id(); }

  Recording recording_;
  World world_{{}};
  EventDecoder decoder_{world_, recording_};
  AheadStacks ahead_{world_, decoder_, recording_, {}};
};

TEST_F(AheadStacksTest, nothing_is_made_that_nobody_asked_for) {
  EXPECT_FALSE(std::get<Sample>(ahead(sample(0)).payload).stack.valid());
}

TEST_F(AheadStacksTest, stacks_are_those_that_the_user_would_have_made) {
  decoder_.apply(ahead(mapping("/bin/a")));
  const StackId own = stack_of(ahead(sample(0)));  // asks for those of event 0
  const Record made = ahead(sample(0));
  EXPECT_EQ(std::get<Sample>(made.payload).stack, own);
  EXPECT_EQ(stack_of(made), own);
  EXPECT_FALSE(std::get<Sample>(ahead(sample(1)).payload).stack.valid());
}

TEST_F(AheadStacksTest, a_stack_is_as_of_the_record_and_not_of_what_its_user_knows) {
  decoder_.apply(ahead(mapping("/bin/a")));
  const StackId of_a = stack_of(ahead(sample(0)));
  const Record other = ahead(mapping("/bin/b"));
  const Record made = ahead(sample(0));  // the user knows nothing of /bin/b yet
  decoder_.apply(other);
  const StackId of_b = stack_of(made);
  EXPECT_NE(of_b, of_a);
  const LocationId innermost = world_.stacks().locations(of_b).front();
  EXPECT_EQ(world_.modules().at(world_.stacks().location(innermost).module).path, "/bin/b");
}

// As with a filter that few samples pass.
TEST_F(AheadStacksTest, stacks_that_hardly_anybody_asks_for_are_made_no_more) {
  decoder_.apply(ahead(mapping("/bin/a")));
  use(sample(0), 2 * AskedStacks::kWindow, AskedStacks::kWanted + 1);
  EXPECT_FALSE(std::get<Sample>(ahead(sample(0)).payload).stack.valid());
  EXPECT_TRUE(stack_of(ahead(sample(0))).valid());  // and this one alone changes nothing
  EXPECT_FALSE(std::get<Sample>(ahead(sample(0)).payload).stack.valid());
}

TEST_F(AheadStacksTest, stacks_that_are_asked_for_again_are_made_again) {
  decoder_.apply(ahead(mapping("/bin/a")));
  use(sample(0), 2 * AskedStacks::kWindow, AskedStacks::kWanted + 1);
  use(sample(0), 2 * AskedStacks::kWindow, AskedStacks::kWanted);
  EXPECT_TRUE(std::get<Sample>(ahead(sample(0)).payload).stack.valid());
  use(sample(1), 2 * AskedStacks::kWindow, AskedStacks::kWanted + 1);  // of another event
  EXPECT_TRUE(std::get<Sample>(ahead(sample(0)).payload).stack.valid());
}

TEST_F(AheadStacksTest, samples_with_registers_are_unwound_first) {
  decoder_.apply(ahead(mapping("/bin/a")));
  stack_of(ahead(sample(0)));
  const std::vector<std::uint64_t> values = {1};
  Record with_registers = sample(0);
  std::get<Sample>(with_registers.payload).registers = {.abi = 2, .mask = 1, .values = values};
  EXPECT_FALSE(std::get<Sample>(ahead(with_registers).payload).stack.valid());
}

}  // namespace
}  // namespace memtrace
