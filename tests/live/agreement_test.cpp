// Views that count the same agree with each other to the last one, and with /proc/vmstat as far as
// nobody else on the machine does the same at that moment.
#include <algorithm>

#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class AgreementTest : public PressureTest {
 protected:
  static std::uint64_t sum_of(const Json& report, std::size_t table, const char* figure) {
    std::uint64_t sum = 0;
    for (const Json& row : report.at("tables").at(table).at("rows")) {
      sum += row.at(figure).is_number() ? row.at(figure).get<std::uint64_t>() : 0;
    }
    return sum;
  }
};

TEST_F(AgreementTest, pages_that_compaction_moved_and_could_not_move) {
  if (!std::filesystem::exists("/proc/sys/vm/compact_memory")) {
    GTEST_SKIP() << "this kernel has no compaction";
  }
  expect_some_try([this](Try& tried) {
    const Grown grown = record(
        "-a --for compaction,numa -- sh -c '$PUPPETS/press_memory file data 8192; echo 1 > "
        "/proc/sys/vm/compact_memory'");
    const Json compaction = report("compaction --top 0");
    const Json numa = report("numa --top 0");
    if (!tried.expect_none_lost(compaction)) {
      return;
    }
    const Json moved = row_of(numa, 0, "reason", "compaction");
    const std::uint64_t migrated = moved.is_null() ? 0 : moved.at("migrated").get<std::uint64_t>();
    const std::uint64_t failed = moved.is_null() ? 0 : moved.at("failed").get<std::uint64_t>();
    const std::uint64_t put_back = total_of(compaction, "put_back");
    tried.expect_equal(total_of(compaction, "migrated"), migrated, "compaction, numa: migrated");
    tried.expect_equal(total_of(compaction, "failed"), failed, "compaction, numa: failed");
    tried.expect_equal(std::min(put_back, failed), failed, "put back, failed");
    tried.expect_equal(sum_of(compaction, 0, "migrated"),
                       sum_of(compaction, 1, "migrated"),
                       "migrated in both tables");
    tried.expect_equal(total_of(numa, "migrated"), grown.by("pgmigrate_success"), "vmstat");
    tried.expect_equal(total_of(numa, "failed"), grown.by("pgmigrate_fail"), "vmstat, failed");
  });
}

TEST_F(AgreementTest, pages_that_were_reclaimed_and_written) {
  const SwapFile swap(dir_.path() + "/swap", 96);
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!swap.usable() || !group.usable()) {
    GTEST_SKIP() << "no swap file or no memory cgroup can be made here";
  }
  expect_some_try([&](Try& tried) {
    const Grown grown = record("-a --for vmscan,reclaim,writeback -- " + group.enter() +
                               "$PUPPETS/press_memory anon 8192");
    const Json vmscan = report("vmscan --top 0 --show all");
    const Json reclaim = report("reclaim --top 0");
    const Json writeback = report("writeback --top 0");
    if (!tried.expect_none_lost(vmscan)) {
      return;
    }
    tried.expect_equal(total_of(reclaim, "pages"),
                       sum_of(vmscan, 0, "direct") + sum_of(vmscan, 0, "cgroup"),
                       "reclaim, vmscan: pages");
    tried.expect_equal(total_of(vmscan, "written"),
                       total_of(writeback, "swap_pageouts") + total_of(writeback, "file_pageouts"),
                       "vmscan, writeback: written");
    tried.expect_equal(total_of(writeback, "swap_pageouts"), grown.by("pswpout"), "vmstat");
  });
}

TEST_F(AgreementTest, faults_of_one_process) {
  record("--for faults,ffaults,anon,numa -- $PUPPETS/touch_pages 700");
  const Json faults = report("faults --top 0 --by class");
  const Json by_comm = report("faults --top 0 --by comm");
  EXPECT_EQ(lost_in(faults), 0U);
  EXPECT_EQ(sum_of(faults, 0, "count"), total_of(faults, "count"));
  EXPECT_EQ(total_of(faults, "count"), total_of(by_comm, "count"));
  EXPECT_EQ(total_of(faults, "minor"), sum_of(by_comm, 0, "minor"));
  EXPECT_GE(total_of(faults, "minor"), 700U);
}

// Pages of tmpfs that write(2) brings: the kernel has no event of the page cache for them, and the
// views that show them count what the file has.
TEST_F(AgreementTest, pages_that_tmpfs_grew_by) {
  constexpr std::uint64_t kPages = 300;
  const std::string file = "/dev/shm/memtrace_test_" + std::to_string(::getpid());
  record("--for shm,filepages -- sh -c 'head -c 1228800 /dev/zero > " + file + "; rm " + file +
         "'");
  for (const char* view : {"shm", "filepages"}) {
    const Json report_of_view = report(std::string(view) + " --top 0");
    EXPECT_EQ(lost_in(report_of_view), 0U);
    EXPECT_EQ(total_of(report_of_view, "shmem_pages"), kPages) << report_of_view.dump(1);
  }
  const Json filepages = report("filepages --top 0");
  std::uint64_t deleted = 0;
  for (const Json& row : filepages.at("tables").at(1).at("rows")) {
    const std::uint64_t pages = row.at("cache_del").get<std::uint64_t>();
    deleted += row.at("cache_add") == 0 && pages == kPages ? pages : 0;
  }
  EXPECT_EQ(deleted, kPages) << filepages.dump(1);
}

// Live, without stacks as a key.
TEST_F(AgreementTest, pages_that_tmpfs_grew_by_are_known_live) {
  const std::string file = "/dev/shm/memtrace_test_" + std::to_string(::getpid());
  const Json shm = json_of("$MEMTRACE shm --format json -- sh -c 'head -c 409600 /dev/zero > " +
                           file + "; rm " + file + "'");
  EXPECT_EQ(total_of(shm, "shmem_pages"), 100U) << shm.dump(1);
}

}  // namespace
}  // namespace memtrace::test
