// memtrace is root and reads files that others wrote: what makes an error in it harder to use.
#include <filesystem>

#include "cli/program.h"

namespace memtrace::test {
namespace {

class HardenedProgramTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program())) {
      GTEST_SKIP() << "memtrace-static was not built: not all libraries are here as archives, or "
                      "sanitizers are in use";
    }
#ifndef MEMTRACE_IS_OPTIMIZED
    GTEST_SKIP() << "built without optimisation";
#endif
  }

  static std::string program() {
    return std::string(TEST_BINARY_DIR "/") + GetParam();
  }
};

TEST_P(HardenedProgramTest, its_addresses_cannot_be_guessed) {
  const std::string header = run("readelf -hW " + program()).out;
  EXPECT_NE(header.find("DYN ("), std::string::npos) << header;
}

TEST_P(HardenedProgramTest, pointers_to_functions_are_read_only_before_main) {
  const std::string text = run("readelf -lWd " + program()).out;
  EXPECT_NE(text.find("GNU_RELRO"), std::string::npos) << text;
  EXPECT_NE(text.find("BIND_NOW"), std::string::npos) << text;
}

TEST_P(HardenedProgramTest, no_memory_is_both_writable_and_executable) {
  const std::string text = run("readelf -lW " + program() + " | grep -E ' (LOAD|GNU_STACK) '").out;
  EXPECT_NE(text.find("GNU_STACK"), std::string::npos) << text;
  EXPECT_EQ(text.find("RWE"), std::string::npos) << text;
}

#if defined(__x86_64__) && defined(MEMTRACE_IS_OPTIMIZED)

// A jump by a changed pointer ends anywhere but at an endbr64 with control-flow protection; a
// return address below an overflown array is not used (%fs:0x28 is glibc's guard on x86-64).
TEST_P(HardenedProgramTest, jumps_and_return_addresses_are_guarded) {
  const Outcome code = run("objdump -d " + program() +
                           " | awk '/endbr64/ {++ends} /%fs:0x28/ {++guards} "
                           "END {print (ends > 10000), (guards > 4000)}'");
  EXPECT_EQ(code.out, "1 1\n") << code.all();
}

#endif

INSTANTIATE_TEST_SUITE_P(Programs,
                         HardenedProgramTest,
                         testing::Values("memtrace", "memtrace-static"),
                         [](const auto& each) {
                           return std::string(each.param) == "memtrace" ? "shared" : "alone";
                         });

// The checking variants of libc's functions are calls that the shared program names.
TEST_F(ProgramTest, lengths_of_copies_are_checked_where_the_compiler_knows_them) {
#ifndef MEMTRACE_IS_OPTIMIZED
  GTEST_SKIP() << "built without optimisation";
#endif
  const std::string names = run("readelf --dyn-syms -W " TEST_BINARY_DIR "/memtrace").out;
  EXPECT_NE(names.find("__memcpy_chk"), std::string::npos);
  EXPECT_NE(names.find("__stack_chk_fail"), std::string::npos);
}

}  // namespace
}  // namespace memtrace::test
