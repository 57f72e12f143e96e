// The layers of a known number of page faults, without and with reclaim.
#include "live/live_test.h"
#include "live/memory_group.h"

namespace memtrace::test {
namespace {

class PathTest : public LiveTest {
 protected:
  // A figure of the rows whose stack has touch_fresh_pages() and whose layer begins like this.
  static std::uint64_t sum(const Json& report, std::string_view layer, const char* figure) {
    std::uint64_t sum = 0;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      const bool is_there = row.at("stack").dump().find("touch_fresh_pages") != std::string::npos;
      sum +=
          is_there && begins_with(row.at("layer"), layer) ? row.at(figure).get<std::uint64_t>() : 0;
    }
    return sum;
  }
};

TEST_F(PathTest, each_page_that_is_touched_is_allocated_in_its_fault) {
  constexpr std::uint64_t kPages = 2000;
  run_well("$MEMTRACE record --for path,faults -- $PUPPETS/touch_pages 2000");
  const Json path = report("path --top 0");
  const Json faults = report("faults --top 0");
  EXPECT_EQ(sum(path, "page fault", "touched"), kPages * kPageBytes);
  // Page tables come to it: one for 512 pages, and their parents.
  const std::uint64_t allocated = sum(path, "page fault", "allocated");
  EXPECT_GE(allocated, kPages * kPageBytes);
  EXPECT_LE(allocated, (kPages + kPages / 512 + 4) * kPageBytes);
  EXPECT_EQ(sum(path, "page fault", "count") - sum(path, "page fault > ", "count"), kPages);
  EXPECT_EQ(sum(path, "page fault of the kernel", "count"), 0U);
  const std::uint64_t in_faults = faults.at("totals").at("time");
  const std::uint64_t of_all = path.at("totals").at("fault_time");
  EXPECT_GE(of_all, in_faults) << "faults of kernel code are in it, too";
  const std::uint64_t with_kernel = report("faults --by mode").at("totals").at("time");
  EXPECT_EQ(of_all, with_kernel);
  const Outcome folded = run_well("$MEMTRACE report path --top 0 --format folded --sort allocated");
  EXPECT_NE(folded.out.find(
                ";touch_fresh_pages(char volatile*, long, long);[page fault];[page allocation] "),
            std::string::npos)
      << folded.out;
}

TEST_F(PathTest, a_full_cgroup_reclaims_within_faults) {
  const MemoryGroup group(dir_.path(), 6U << 20U);
  const SwapFile swap(dir_.file("swap"), 32);
  if (!group.usable() || !swap.usable()) {
    GTEST_SKIP() << "no memory cgroup or no swap file can be made here";
  }
  run_well("$MEMTRACE record --for path -- " + group.enter() + "$PUPPETS/touch_pages 3000");
  const Json path = report("path --top 0");
  // The code itself may be reclaimed, and its pages come back by faults of their own.
  const std::uint64_t touched = sum(path, "page fault", "touched");
  EXPECT_GE(touched, 3000 * kPageBytes);
  EXPECT_LE(touched, 3016 * kPageBytes);
  EXPECT_GT(sum(path, "page fault > cgroup reclaim", "time"), 0U) << path.at("tables").at(1);
  // 12 MB went through a group of 6 MiB: the rest was reclaimed.
  EXPECT_GE(sum(path, "page fault > cgroup reclaim", "reclaimed"), 4U << 20U);
  const Json& layers = path.at("tables").at(1).at("rows");
  double of_all = 0;
  for (const Json& row : layers) {
    of_all += row.at("of_all").get<double>();
  }
  EXPECT_NEAR(of_all, 100, 0.1);
}

// main() of grow_memory allocates a block, and touch_allocated() touches 300 of its pages.
TEST_F(PathTest, a_fault_on_a_block_is_of_the_malloc_that_made_it) {
  run_well(
      "trap 'kill $(cat pid)' EXIT\n"
      "$MEMTRACE record --for path,heap -- sh -c '$PUPPETS/grow_memory > ready < /dev/zero & "
      "echo $! > pid; until grep -q more ready; do sleep 0.02; done'");
  const auto touched = [](const Json& report, std::string_view function) {
    std::uint64_t bytes = 0;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      const bool is_there = row.at("stack").dump().find(function) != std::string::npos;
      bytes +=
          is_there && row.at("comm") == "grow_memory" ? row.at("touched").get<std::uint64_t>() : 0;
    }
    return bytes;
  };
  const Json by_owner = report("path --by comm,stack,layer --top 0");
  const Json by_toucher = report("path --by comm,stack,layer --top 0 --touchers");
  EXPECT_EQ(touched(by_toucher, "touch_allocated"), 300 * kPageBytes);
  EXPECT_EQ(touched(by_owner, "touch_allocated"), 0U) << by_owner.dump(1);
  EXPECT_EQ(touched(by_owner, "malloc"), touched(by_toucher, "malloc") + 300 * kPageBytes);
  EXPECT_EQ(touched(by_owner, "touch_unmapped"), 1000 * kPageBytes) << "no block of the heap";
  EXPECT_EQ(by_owner.at("totals"), by_toucher.at("totals"));
}

}  // namespace
}  // namespace memtrace::test
