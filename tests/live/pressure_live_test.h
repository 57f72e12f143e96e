// What the live tests of memory pressure share: a recording beside the kernel's own counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "live/live_test.h"
#include "live/memory_group.h"

namespace memtrace::test {

inline constexpr std::uint64_t kMebibyte = 1U << 20U;

// For a whole report: the machine's own pressure is in it too, so figures are at least ours.
class PressureTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/events/vmscan")) {
      GTEST_SKIP() << "no tracefs with vmscan events at /sys/kernel/tracing";
    }
  }

  // The counters of /proc/vmstat. Each CPU keeps a part of a counter to itself until stat_refresh
  // is read (Documentation/admin-guide/sysctl/vm.rst).
  static std::map<std::string, std::uint64_t> exact_counters() {
    (void)text_of("/proc/sys/vm/stat_refresh");
    return figures_in("/proc/vmstat");
  }

  // What a counter of /proc/vmstat grew by while the script ran.
  struct Grown {
    std::map<std::string, std::uint64_t> before = exact_counters();
    std::map<std::string, std::uint64_t> after;

    std::uint64_t by(const std::string& name) const {
      const auto find = [&name](const auto& figures) {
        return figures.count(name) == 0 ? 0 : figures.at(name);
      };
      return find(after) - find(before);
    }
  };

  Grown record(const std::string& words) {
    Grown grown;
    run_well("$MEMTRACE record " + words);
    grown.after = exact_counters();
    return grown;
  }

  // What one try found. A counter of the machine grows outside of a recording, too, while that
  // begins and ends, and a busy machine may lose events: some try finds that neither happened.
  class Try {
   public:
    void expect_equal(std::uint64_t ours, std::uint64_t other, const char* what) {
      if (ours != other) {
        why_ +=
            std::string(what) + ": " + std::to_string(ours) + " of " + std::to_string(other) + "\n";
      }
    }

    // Of its first report; false: some were, and nothing can be said of it.
    bool expect_none_lost(const Json& report) {
      has_lost_ = lost_in(report) > 0;
      return !has_lost_;
    }

    bool agrees() const { return !has_lost_ && why_.empty(); }

    bool has_lost() const { return has_lost_; }

    const std::string& why() const { return why_; }

   private:
    bool has_lost_ = false;
    std::string why_;
  };

  void expect_some_try(const std::function<void(Try&)>& tried) {
    constexpr int kTries = 4;
    Try last;
    for (int i = 0; i < kTries && !HasFailure(); ++i) {
      last = Try();
      tried(last);
      if (last.agrees()) {
        return;
      }
    }
    if (last.has_lost() && !HasFailure()) {
      GTEST_SKIP() << "events were lost in each try, or in the last one";
    }
    ADD_FAILURE() << "no try agrees; the last one:\n" << last.why();
  }

  static std::uint64_t total_of(const Json& report, const char* name) {
    return report.at("totals").value(name, std::uint64_t{0});
  }

  // A table's row with this value in its first column; null when there is none.
  static Json row_of(const Json& report, std::size_t table, const char* key, const Json& value) {
    for (const Json& row : report.at("tables").at(table).at("rows")) {
      if (row.at(key) == value) {
        return row;
      }
    }
    return nullptr;
  }

  // What stands beside the kernel's counters for a figure; null when nothing does.
  static Json truth_row(const Json& report, const std::string& figure) {
    for (std::size_t i = 0; i < report.at("tables").size(); ++i) {
      if (report.at("tables").at(i).at("title") == "beside what the kernel counted") {
        return row_of(report, i, "figure", figure);
      }
    }
    return nullptr;
  }

  static std::uint64_t sum_of_kinds(const Json& vmscan, const char* figure) {
    std::uint64_t sum = 0;
    for (const Json& row : vmscan.at("tables").at(1).at("rows")) {
      if (row.at("kind") != "other" && row.at(figure).is_number()) {
        sum += row.at(figure).get<std::uint64_t>();
      }
    }
    return sum;
  }

  static void expect_near(std::uint64_t ours, std::uint64_t kernels, double share) {
    EXPECT_LE(static_cast<double>(ours), static_cast<double>(kernels));
    EXPECT_GE(static_cast<double>(ours), static_cast<double>(kernels) * share);
  }
};

}  // namespace memtrace::test
