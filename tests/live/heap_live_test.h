// What the live tests of the user heap share: they need uprobes, and look for blocks that a
// function of a puppet left.
#pragma once

#include <ostream>
#include <string>

#include "live/live_test.h"

namespace memtrace::test {

struct Leak {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Leak&, const Leak&) = default;

  friend std::ostream& operator<<(std::ostream& out, const Leak& leak) {
    return out << leak.count << " blocks of " << leak.bytes << " bytes";
  }
};

class HeapLiveTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
      GTEST_SKIP() << "no uprobe_events here";
    }
  }

  // By a function without a namespace.
  static Leak leak_at(const Json& leaks, const std::string& function) {
    const std::string name = "(anonymous namespace)::" + function;
    return {sum_with_function(leaks, name), sum_with_function(leaks, name, "bytes")};
  }
};

}  // namespace memtrace::test
