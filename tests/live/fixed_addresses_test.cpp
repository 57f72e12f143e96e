// A command whose stacks are copied is started without address space randomization, and no other.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class FixedAddressesTest : public LiveTest {
 protected:
  // What the kernel says of the command, "00040000" being ADDR_NO_RANDOMIZE.
  std::string personality_of(const std::string& words) {
    const Outcome outcome = run_well("$MEMTRACE " + words + " -- cat /proc/self/personality");
    const std::size_t at = outcome.out.find("000");
    return at == std::string::npos ? outcome.all() : outcome.out.substr(at, 8);
  }

  static std::string expected() {
    return text_of("/proc/cpuinfo").find(" la57") == std::string::npos ? "00040000" : "00000000";
  }
};

#if defined(__x86_64__)

TEST_F(FixedAddressesTest, are_those_of_a_command_whose_stacks_are_copied) {
  EXPECT_EQ(personality_of("record --for malloc"), expected());
  EXPECT_EQ(personality_of("record --for faults"), expected());
  EXPECT_EQ(personality_of("record -a --for faults"), expected());
  EXPECT_EQ(personality_of("malloc"), expected());
}

TEST_F(FixedAddressesTest, are_not_those_of_others) {
  for (const char* words : {"record --for malloc --keep-aslr",
                            "record --for malloc --call-graph fp",
                            "record --for kmalloc",
                            "malloc --by function"}) {
    EXPECT_EQ(personality_of(words), "00000000") << words;
  }
}

// What it is for: a copy that ends with the stack, some 3 KiB here, leaves room in the ring. One of
// nearly 64 KiB leaves none in this one.
TEST_F(FixedAddressesTest, the_kernel_copies_no_further_than_the_stack_reaches) {
  if (expected() == "00000000") {
    GTEST_SKIP() << "five levels of page tables: the address space does not end at the stack";
  }
  const auto lost = [this](const std::string& words) {
    run_well("env -i MEMTRACE=$MEMTRACE PUPPETS=$PUPPETS $MEMTRACE record -m 64K " + words +
             " -o f.data -- $PUPPETS/touch_pages 3000");
    return lost_in(report("-i f.data"));
  };
  const std::string dwarf = "--for faults --call-graph dwarf,65528 ";
  EXPECT_LT(lost(dwarf), lost(dwarf + "--keep-aslr"));
}

#endif

}  // namespace
}  // namespace memtrace::test
