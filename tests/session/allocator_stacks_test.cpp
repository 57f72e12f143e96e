#include "session/allocator_stacks.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace memtrace {
namespace {

class FixedNamer final : public Namer {
 public:
  // Innermost first: "function" or "function@module".
  StackId add(const std::vector<std::string>& functions) {
    Frames& frames = stacks_[StackId{next_}];
    for (const std::string& function : functions) {
      const std::size_t at = function.find('@');
      frames.push_back({.function = function.substr(0, at),
                        .module = at == std::string::npos ? "libc.so.6" : function.substr(at + 1)});
    }
    return StackId{next_++};
  }

  const Frames& stack(StackId id) override {
    ++asked_;
    return stacks_.at(id);
  }

  const Frames& location(LocationId /*id*/) override { return none_; }

  int asked() const { return asked_; }

 private:
  std::map<StackId, Frames> stacks_;
  Frames none_;
  std::uint32_t next_ = 1;
  int asked_ = 0;
};

TEST(AllocatorStacks, own_memory_of_an_allocator_is_told_by_its_functions) {
  FixedNamer namer;
  AllocatorStacks stacks;
  EXPECT_TRUE(stacks.contains(namer.add({"brk", "sbrk", "sysmalloc", "malloc", "main"}), namer));
  EXPECT_TRUE(stacks.contains(namer.add({"mmap", "je_malloc", "main"}), namer));
  EXPECT_TRUE(stacks.contains(namer.add({"mmap", "SystemAlloc@libtcmalloc.so.4"}), namer));
  EXPECT_FALSE(stacks.contains(namer.add({"brk", "sbrk", "grow_pool", "main"}), namer));
  EXPECT_FALSE(stacks.contains(namer.add({"mmap", "operator new(unsigned long)"}), namer));
}

TEST(AllocatorStacks, functions_that_are_probed_are_learnt) {
  FixedNamer namer;
  AllocatorStacks stacks;
  std::deque<EventType> types(2);
  types[1].heap_function = "pool_take";
  stacks.learn(types);
  EXPECT_TRUE(stacks.contains(namer.add({"mmap", "pool_take", "main"}), namer));
}

TEST(AllocatorStacks, each_stack_is_named_once) {
  FixedNamer namer;
  AllocatorStacks stacks;
  const StackId stack = namer.add({"brk", "malloc"});
  EXPECT_TRUE(stacks.contains(stack, namer));
  EXPECT_TRUE(stacks.contains(stack, namer));
  EXPECT_EQ(namer.asked(), 1);
}

}  // namespace
}  // namespace memtrace
