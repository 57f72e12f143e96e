#include "state/process/stack_interner.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace memtrace {
namespace {

constexpr std::uint64_t kKernel = 0xffffffffffffff80U;
constexpr std::uint64_t kUser = 0xfffffffffffffe00U;
constexpr std::uint64_t kNoCode = 0x10;

class StackInternerTest : public testing::Test {
 protected:
  StackInternerTest() {
    for (const std::uint32_t pid : {7U, 8U}) {
      Process& process = processes_.process(pid);
      process.serial = pid;
      process.space.map(
          {.start = 0x400000, .limit = 0x500000},
          {.module = code_.modules.intern({.kind = ModuleKind::File, .path = "/bin/a"}),
           .offset_minus_avma = std::uint64_t{0} - 0x400000 * (pid - 6)});
    }
  }

  StackInterner interner(StackPart part = StackPart::Whole) {
    return StackInterner(code_, processes_, {.part = part});
  }

  static std::vector<CodeLocation> places(const StackInterner& interner, StackId stack) {
    std::vector<CodeLocation> places;
    for (const LocationId location : interner.stacks().locations(stack)) {
      places.push_back(interner.stacks().location(location));
    }
    return places;
  }

  // As who has seen no other chain.
  std::vector<CodeLocation> alone(std::uint32_t pid,
                                  const std::vector<std::uint64_t>& chain,
                                  StackPart part = StackPart::Whole) {
    StackInterner fresh = interner(part);
    const StackId stack = fresh.intern(pid, chain);
    return places(fresh, stack);
  }

  CodeTables code_;
  ProcessTable processes_;
};

TEST_F(StackInternerTest, instruction_of_one_chain_is_the_return_address_of_another) {
  StackInterner all = interner();
  const std::vector<std::uint64_t> deep = {kUser, 0x400010, 0x400020, 0x400030};
  const std::vector<std::uint64_t> shallow = {kUser, 0x400020, 0x400030};
  const StackId first = all.intern(7, deep);
  const StackId second = all.intern(7, shallow);
  EXPECT_EQ(places(all, first), alone(7, deep));
  EXPECT_EQ(places(all, second), alone(7, shallow));
  EXPECT_FALSE(places(all, second).front().is_return_address);
  EXPECT_TRUE(places(all, first)[1].is_return_address);
}

TEST_F(StackInternerTest, stack_ends_at_what_is_no_code_though_its_callers_are_known) {
  StackInterner all = interner();
  all.intern(7, std::vector<std::uint64_t>{kUser, 0x400010, 0x400020, 0x400030});
  const std::vector<std::uint64_t> broken = {kUser, 0x400018, kNoCode, 0x400020, 0x400030};
  EXPECT_EQ(places(all, all.intern(7, broken)), alone(7, broken));
  EXPECT_EQ(alone(7, broken).size(), 2U);
}

TEST_F(StackInternerTest, frames_of_other_mappings_are_others) {
  StackInterner all = interner();
  const std::vector<std::uint64_t> chain = {kUser, 0x400010, 0x400020, 0x400030};
  const std::vector<std::uint64_t> other = {kUser, 0x400018, 0x400020, 0x400030};
  all.intern(7, chain);
  EXPECT_EQ(places(all, all.intern(8, other)), alone(8, other));
  processes_.process(7).space.map(
      {.start = 0x400000, .limit = 0x500000},
      {.module = code_.modules.intern({.kind = ModuleKind::File, .path = "/bin/b"})});
  EXPECT_EQ(places(all, all.intern(7, other)), alone(7, other));
}

class RandomChains : public StackInternerTest, public testing::WithParamInterface<StackPart> {
 protected:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  // With outer frames that many chains share, and now and then with one that is no code.
  std::vector<std::uint64_t> chain() {
    std::vector<std::uint64_t> chain;
    if (below(3) != 0) {
      chain.push_back(kKernel);
      chain.insert(chain.end(), below(3), 0xffffffff81000000U + below(3) * 16);
    }
    if (below(8) != 0) {
      chain.push_back(kUser);
    }
    for (std::size_t depth = below(7); depth > 0; --depth) {
      chain.push_back(below(30) == 0 ? kNoCode : 0x400000 + (depth * 4 + below(2)) * 16);
    }
    return chain;
  }

  std::mt19937 random_{1};
};

TEST_P(RandomChains, are_the_same_stacks_whatever_was_seen_before) {
  StackInterner all = interner(GetParam());
  for (int i = 0; i < 400; ++i) {
    const auto pid = static_cast<std::uint32_t>(7 + below(2));
    const auto callchain = chain();
    const StackId stack = all.intern(pid, callchain);
    ASSERT_EQ(places(all, stack), alone(pid, callchain, GetParam())) << i;
    ASSERT_EQ(all.intern(pid, callchain), stack) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllParts,
                         RandomChains,
                         testing::Values(StackPart::Whole, StackPart::Kernel, StackPart::User));

}  // namespace
}  // namespace memtrace
