// Pages counted right where the kernel's events are of folios: against the kernel's own counters.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class FoliosTest : public PressureTest {
 protected:
  static constexpr std::uint64_t kPages = 16'384;

  // What stands beside the kernel's counter; null when nothing does.
  static Json truth_of(const Json& report) {
    for (const Json& table : report.at("tables")) {
      if (table.at("title") == "beside what the kernel counted") {
        return table.at("rows").at(0);
      }
    }
    return nullptr;
  }

  // 64 MiB are written in pieces of so many bytes: the larger the write, the larger are the folios
  // that ext4, xfs and btrfs make for it (mm/filemap.c, __filemap_get_folio).
  void expect_dirtied_as_counted(const std::string& piece, std::uint64_t pieces) {
    const Grown grown = record("-a --for writeback -- dd if=/dev/zero of=" + dir_.path() +
                               "/copy bs=" + piece + " count=" + std::to_string(pieces));
    const Json writeback = report("writeback");
    EXPECT_EQ(lost_in(writeback), 0U);
    EXPECT_GE(grown.by("nr_dirtied"), kPages);
    expect_near(total_of(writeback, "dirtied"), grown.by("nr_dirtied"), 0.98);
    const Json writer = row_of(writeback, 0, "comm", "dd");
    ASSERT_FALSE(writer.is_null()) << writeback.dump(1);
    EXPECT_GE(writer.at("dirtied").get<std::uint64_t>(), kPages);
    EXPECT_LE(writer.at("dirtied").get<std::uint64_t>(), kPages * 101 / 100);
    const Json truth = truth_of(writeback);
    ASSERT_FALSE(truth.is_null()) << writeback.dump(1);
    EXPECT_EQ(truth.at("counter"), "nr_dirtied");
    EXPECT_NEAR(truth.at("explained").get<double>(), 100.0, 2.0);
  }
};

TEST_F(FoliosTest, dirtied_pages_are_those_of_vmstat_with_small_writes) {
  expect_dirtied_as_counted("4096", kPages);
}

TEST_F(FoliosTest, dirtied_pages_are_those_of_vmstat_with_large_writes) {
  expect_dirtied_as_counted("1M", kPages / 256);
}

}  // namespace
}  // namespace memtrace::test
