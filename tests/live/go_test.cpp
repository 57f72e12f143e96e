// Programs written in Go, which has an allocator and a garbage collector of its own.
#include <fstream>

#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

class GoTest : public HeapLiveTest {
 protected:
  void SetUp() override {
    HeapLiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    std::ofstream(dir_.path() + "/main.go") << R"(package main

var kept [][]byte

//go:noinline
func grow(count int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, 5000))
	}
}

func main() {
	grow(300)
}
)";
    const Outcome built =
        run("GO=$(command -v go || ls /usr/lib/go*/bin/go | tail -n 1) && "
            "HOME=$PWD GOCACHE=$PWD/cache GO111MODULE=off $GO build -o program main.go");
    if (built.status != 0) {
      GTEST_SKIP() << "Go is not installed: " << built.err;
    }
  }
};

TEST_F(GoTest, allocations_are_counted_by_size_and_stack) {
  run_well("$MEMTRACE record --for malloc -- ./program");
  EXPECT_EQ(figure_of(report("malloc --by size --top 0"), "size", 5000), 300U);
  EXPECT_GE(sum_with_function(report("malloc --top 0"), "main.grow"), 300U);
}

TEST_F(GoTest, what_the_garbage_collector_frees_is_said_not_to_be_seen) {
  const Outcome refused = run("$MEMTRACE record --for leaks -- ./program");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.says("garbage collector")) << refused.all();
  EXPECT_TRUE(refused.says("memtrace malloc")) << refused.all();
}

// What starts it has allocators of its own, and so may other processes.
TEST_F(GoTest, it_is_found_behind_the_program_that_starts_it) {
  for (const char* command : {"env X=1 ./program", "timeout 60 ./program"}) {
    const Outcome outcome = run_well(std::string("$MEMTRACE record --for leaks -- ") + command);
    EXPECT_TRUE(outcome.says("program is a Go program: allocations of C code are seen"))
        << outcome.all();
  }
  const Outcome malloc = run_well("$MEMTRACE record --for malloc -- env X=1 ./program");
  EXPECT_FALSE(malloc.says("is a Go program")) << malloc.all();
}

}  // namespace
}  // namespace memtrace::test
