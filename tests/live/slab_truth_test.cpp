// slab --truth: what the trace saw of a cache, beside the kernel's own count of it.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

using SlabTruthTest = PressureTest;

constexpr std::uint64_t kNames = 60'000;

Json row_with(const Json& report, const char* key, const char* value) {
  for (const Json& table : report.at("tables")) {
    for (const Json& row : table.at("rows")) {
      if (row.contains(key) && row.at(key) == value) {
        return row;
      }
    }
  }
  return nullptr;
}

// The row of a cache in the table that compares.
Json truth_of(const Json& report, const char* cache) {
  for (const Json& table : report.at("tables")) {
    for (const Json& row : table.at("rows")) {
      if (row.contains("grown") && row.at("cache") == cache) {
        return row;
      }
    }
  }
  return nullptr;
}

struct Dentries {
  std::uint64_t active = 0;
  std::uint64_t bytes = 0;  // of one
};

// "dentry 703571 703584 192 21 1 : ...": slabinfo's own line.
Dentries count_dentries() {
  std::ifstream file("/proc/slabinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t all = 0;
    Dentries dentries;
    if (words >> name >> dentries.active >> all >> dentries.bytes && name == "dentry") {
      return dentries;
    }
  }
  return {};
}

TEST_F(SlabTruthTest, dentries_of_names_that_are_not_there_are_explained) {
  if (count_dentries().active == 0) {
    GTEST_SKIP() << "no /proc/slabinfo with dentries";
  }
  // Others may have dentries freed at the same time: by a shrinker, for one.
  expect_some_try([this](Try& tried) {
    const Dentries before = count_dentries();
    record("-a --for slab -- $PUPPETS/press_memory names " + std::to_string(kNames));
    const std::uint64_t grown = count_dentries().active - before.active;
    const Json slab = report("slab --by cache --truth --top 0");
    if (!tried.expect_none_lost(slab)) {
      return;
    }
    const Json dentry = truth_of(slab, "dentry");
    ASSERT_FALSE(dentry.is_null()) << slab.dump(1);
    EXPECT_GE(dentry.at("allocated").get<std::uint64_t>(), kNames);
    const double explained = dentry.at("explained").get<double>();
    RecordProperty("explained", std::to_string(explained));
    tried.expect_equal(explained >= 90 && explained <= 110 ? 1 : 0, 1, "explained 90 to 110 %");
    const double objects = dentry.at("grown").get<double>() / static_cast<double>(before.bytes);
    const auto outside = static_cast<double>(grown);
    tried.expect_equal(objects > outside * 0.9 && objects < outside * 1.1 ? 1 : 0,
                       1,
                       "grown as slabinfo has it before and after");
    const Json all = row_with(slab, "growth_of", "both in vmstat");
    ASSERT_FALSE(all.is_null());
    EXPECT_TRUE(all.at("bytes").is_number());
  });
}

TEST_F(SlabTruthTest, live_views_compare_too) {
  if (count_dentries().active == 0) {
    GTEST_SKIP() << "no /proc/slabinfo with dentries";
  }
  int folders = 0;  // a name that was looked for has its dentry already
  expect_some_try([this, &folders](Try& tried) {
    for (const std::string view : {"slab --by cache", "kleaks"}) {
      const std::string folder = "names" + std::to_string(++folders);
      const Json live =
          json_of("mkdir " + folder + "; cd " + folder + "; $MEMTRACE " + view +
                  " --truth -a --top 0 --format json -- $PUPPETS/press_memory names " +
                  std::to_string(kNames) + " | sed -n '/^{/,$p'");
      if (!tried.expect_none_lost(live)) {
        return;
      }
      const Json dentry = truth_of(live, "dentry");
      ASSERT_FALSE(dentry.is_null()) << live.dump(1);
      EXPECT_GE(dentry.at("allocated").get<std::uint64_t>(), kNames);
      const double explained = dentry.at("explained").get<double>();
      tried.expect_equal(explained >= 90 && explained <= 110 ? 1 : 0, 1, "explained 90 to 110 %");
    }
  });
}

}  // namespace
}  // namespace memtrace::test
