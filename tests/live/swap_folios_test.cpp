// Large folios that are swapped out, against the kernel's own counters.
#include "live/folio_setting.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

// 64 MiB in folios of a size, in a memory cgroup that has room for a third of it.
class SwapFoliosTest : public PressureTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr std::uint64_t kPages = 16'384;

  SwapFoliosTest()
      : huge_(folio_folder(2048) + "/enabled"), wanted_(folio_folder(GetParam()) + "/enabled") {}

  bool can_be_made() const {
    return huge_.is_there() && wanted_.is_there() &&
           std::filesystem::exists(folio_folder(GetParam()) + "/stats/swpout");
  }

  void make_only_these() const {
    huge_.set("never");
    wanted_.set("always");
  }

  static std::uint64_t swapped_whole() {
    return std::stoull(text_of(folio_folder(GetParam()) + "/stats/swpout"));
  }

  // Pages of zeros are not written (6.12), and those that zswap takes are not either.
  static std::uint64_t swapped_out(const Grown& grown) {
    return grown.by("pswpout") + grown.by("swpout_zero") + grown.by("zswpout");
  }

 private:
  FolioSetting huge_;
  FolioSetting wanted_;
};

TEST_P(SwapFoliosTest, count_as_all_their_pages) {
  if (!can_be_made()) {
    GTEST_SKIP() << "this kernel does not count folios of " << GetParam()
                 << " kB that are swapped out (6.10 and later)";
  }
  const SwapDisk disk(dir_.file("swap"), 96);
  const MemoryGroup group(dir_.path(), 24 * kMebibyte);
  if (!disk.usable() || !group.usable()) {
    GTEST_SKIP() << "no loop device, swap or memory cgroup can be made here";
  }
  make_only_these();
  expect_some_try([&](Try& tried) {
    const std::uint64_t whole = swapped_whole();
    const Grown grown = record("-a --for swapin,vmscan,writeback -- " + group.enter() +
                               "$PUPPETS/fault_kinds folio-pressure " + std::to_string(kPages));
    EXPECT_GT(swapped_whole(), whole);
    const Json swapin = report("swapin");
    if (!tried.expect_none_lost(swapin)) {
      return;
    }
    EXPECT_GE(total_of(swapin, "out"), kPages / 2);
    tried.expect_equal(total_of(swapin, "out"), swapped_out(grown), "swapin out");
    const Json writeback = report("writeback");
    tried.expect_equal(
        total_of(writeback, "swap_pageouts"), swapped_out(grown), "writeback swap_pageouts");
    tried.expect_equal(
        sum_of_kinds(report("vmscan"), "written"), swapped_out(grown), "vmscan written");
  });
}

INSTANTIATE_TEST_SUITE_P(of_each_size, SwapFoliosTest, testing::Values(16, 64, 2048));

}  // namespace
}  // namespace memtrace::test
