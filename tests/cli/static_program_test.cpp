// memtrace-static needs no file but itself: packaging/static.cmake.
#include <filesystem>

#include "cli/program.h"

namespace memtrace::test {
namespace {

class StaticProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program())) {
      GTEST_SKIP() << "memtrace-static was not built: not all libraries are here as archives, or "
                      "sanitizers are in use";
    }
  }

  static std::string program() { return TEST_BINARY_DIR "/memtrace-static"; }
};

TEST_F(StaticProgramTest, no_interpreter_and_no_symbols_are_in_it) {
  const std::string headers = run("readelf -lS " + program()).out;
  EXPECT_NE(headers.find(".text"), std::string::npos) << headers;
  EXPECT_EQ(headers.find("INTERP"), std::string::npos) << headers;
  EXPECT_EQ(headers.find(".symtab"), std::string::npos) << headers;
}

TEST_F(StaticProgramTest, it_stays_small) {
#ifndef MEMTRACE_IS_OPTIMIZED
  GTEST_SKIP() << "built without optimisation, which makes it larger";
#endif
  // A view adds 0.1 MB, guards of return addresses and jumps 0.3 MB, and a library makes it jump.
  EXPECT_LT(std::filesystem::file_size(program()), 13'400'000U);
}

TEST_F(StaticProgramTest, it_runs_where_there_is_no_other_file) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "not root: who may not chroot cannot take all other files away";
  }
  ASSERT_EQ(run("mkdir empty && cp " + program() + " empty/memtrace").status, 0);
  const Outcome version = run("chroot empty /memtrace --version");
  EXPECT_EQ(version.out, "memtrace " MEMTRACE_VERSION "\n") << version.all();
  const Outcome help = run("chroot empty /memtrace help faults");
  EXPECT_TRUE(help.out.starts_with("MEMTRACE-FAULTS(1)")) << help.all();
}

}  // namespace
}  // namespace memtrace::test
