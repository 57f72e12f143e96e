// Walks over stacks and rules made by hand, against what a walk without a memory finds.
#include "unwind/stack_fast_walk.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "perf/event/event_attr.h"
#include "unwind/sampled_registers.h"

#ifdef __x86_64__

namespace memtrace {
namespace {

constexpr std::uint64_t kSpace = 1;
constexpr std::uint64_t kMask = (1U << 6) | (1U << 7) | (1U << 8);  // bp, sp, ip
constexpr std::uint64_t kCode = 0x400000;
constexpr std::uint64_t kOutermost = 0x500000;
constexpr std::uint64_t kStackEnd = 0x7fff0000;

using Words = std::vector<std::uint64_t>;

// A frame of `number` at kCode + number * 16 keeps number % 4 words of its own below its return
// address; every third one saves the frame pointer, too.
struct Machine {
  Words stack;  // from kStackEnd downwards: the last is the top

  void call_from(std::uint64_t pc, std::uint64_t callee) {
    stack.push_back(pc);
    if (callee % 3 == 0) {
      stack.push_back(pc * 3);  // in place of a frame pointer
    }
    stack.resize(stack.size() + callee % 4);
  }

  static std::uint64_t address(std::uint64_t number) { return kCode + number * 16; }

  Words from_top() const { return {stack.rbegin(), stack.rend()}; }
};

CodePlace place_of(std::uint64_t number) {
  const bool saves_fp = number % 3 == 0;
  const auto words = static_cast<std::int32_t>(number % 4 + (saves_fp ? 2 : 1));
  CodePlace place{.where = CodePlace::Where::Code, .is_plain = true};
  place.rule = {.kind = FrameRule::Kind::Simple,
                .cfa_register = kHostRegisters.stack_pointer,
                .ra_offset_bytes = -8,
                .cfa_offset_bytes = words * 8};
  if (saves_fp) {
    place.rule.fp_offset_bytes = -16;
  }
  return place;
}

class FastWalkTest : public testing::Test {
 protected:
  FastWalkTest() {
    for (std::uint64_t number = 1; number <= kFunctions; ++number) {
      table_.insert(kSpace, Machine::address(number), place_of(number));
      table_.insert(kSpace, Machine::address(number) - 1, place_of(number));
    }
    CodePlace outermost{.where = CodePlace::Where::Code};
    outermost.rule.kind = FrameRule::Kind::Outermost;
    table_.insert(kSpace, kOutermost - 1, outermost);
  }

  // The stack of a program in which each function, outermost first, has called the next.
  Words walk(FastWalk& walk, const Words& functions, std::uint64_t space = kSpace) {
    Machine machine;
    std::uint64_t pc = kOutermost;
    for (const std::uint64_t number : functions) {
      machine.call_from(pc, number);
      pc = Machine::address(number);
    }
    const Words words = machine.from_top();
    const std::array<std::uint64_t, 3> registers = {5, kStackEnd - words.size() * 8, pc};
    const Sample sample{.tid = 7,
                        .registers = {.abi = 2, .mask = kMask, .values = registers},
                        .user_stack = std::as_bytes(std::span(words))};
    const auto frames = walk.walk(space, sample);
    return {frames.begin(), frames.end()};
  }

  static Words truth(const Words& functions) {
    Words frames;
    for (auto number = functions.rbegin(); number != functions.rend(); ++number) {
      frames.push_back(Machine::address(*number));
    }
    frames.push_back(kOutermost);
    return frames;
  }

  static constexpr std::uint64_t kFunctions = 12;
  RuleTable table_;
  FastWalk walk_{table_};
};

TEST_F(FastWalkTest, outer_frames_of_the_last_walk_are_found_again) {
  for (const Words& functions : {Words{1, 2, 3, 4}, {1, 2, 3, 5, 6}, {1, 2}, {1, 2, 3, 4}}) {
    EXPECT_EQ(walk(walk_, functions), truth(functions));
  }
}

// Functions 1, 5 and 9 have frames of one size: all else stays where it was.
TEST_F(FastWalkTest, changed_word_in_the_remembered_part_is_noticed) {
  EXPECT_EQ(walk(walk_, {2, 1, 2, 4}), truth({2, 1, 2, 4}));
  EXPECT_EQ(walk(walk_, {2, 5, 2, 4}), truth({2, 5, 2, 4}));
  EXPECT_EQ(walk(walk_, {10, 5, 2, 4}), truth({10, 5, 2, 4}));
}

TEST_F(FastWalkTest, agrees_with_the_truth_on_a_program_that_calls_at_random) {
  std::mt19937_64 random(11);
  Words functions = {1};
  for (int round = 0; round < 2000; ++round) {
    const std::size_t kept = 1 + random() % functions.size();
    functions.resize(kept);
    for (std::uint64_t more = random() % 6; more > 0; --more) {
      functions.push_back(1 + random() % kFunctions);
    }
    if (random() % 8 == 0) {
      functions[random() % functions.size()] = 1 + random() % kFunctions;
    }
    functions.resize(std::min<std::size_t>(functions.size(), 40));
    ASSERT_EQ(walk(walk_, functions), truth(functions)) << round;
  }
}

TEST_F(FastWalkTest, what_was_remembered_is_not_true_in_another_space) {
  EXPECT_EQ(walk(walk_, {1, 2, 3}), truth({1, 2, 3}));
  EXPECT_TRUE(walk(walk_, {1, 2, 3}, kSpace + 1).empty());
}

// At a user probe the kernel is not asked for the register (caller_registers()).
TEST_F(FastWalkTest, instruction_of_a_user_probe_is_that_of_its_sample) {
  const Words words = {0, 0, kOutermost};  // as function 2 has them: two words, the return address
  const std::array<std::uint64_t, 2> registers = {5, kStackEnd - words.size() * 8};
  Sample sample{.tid = 7,
                .ip = Machine::address(2),
                .mode = CpuMode::User,
                .registers = {.abi = 2, .mask = kMask & ~(1U << 8U), .values = registers},
                .user_stack = std::as_bytes(std::span(words))};
  const auto frames = walk_.walk(kSpace, sample);
  EXPECT_EQ(Words(frames.begin(), frames.end()), truth({2}));
  EXPECT_EQ(registers_of(sample)[kHostRegisters.program_counter], Machine::address(2));
  sample.mode = CpuMode::Kernel;
  EXPECT_TRUE(walk_.walk(kSpace, sample).empty());
  EXPECT_FALSE(registers_of(sample).has(kHostRegisters.program_counter));
}

TEST_F(FastWalkTest, address_that_is_not_known_is_left_to_others) {
  EXPECT_TRUE(walk(walk_, {1, kFunctions + 1, 3}).empty());
  EXPECT_EQ(walk(walk_, {1, 2, 3}), truth({1, 2, 3}));
}

}  // namespace
}  // namespace memtrace

#endif
