// Views that count the same agree with each other to the last one, and with /proc/vmstat as far as
// nobody else on the machine does the same at that moment.
#include <algorithm>
#include <functional>
#include <map>

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

// A fault is counted by the view of its kind of memory, by that of files and by that of all.
TEST_F(AgreementTest, faults_of_all_views) {
  // A fault between two mappings of a program that is just being executed may have no place yet.
  expect_some_try([this](Try& tried) {
    record(
        "--for faults,ffaults,anon,filepages,hfaults,pages -- sh -c '$PUPPETS/touch_pages 700; "
        "ls / >listed; $PUPPETS/fault_kinds thp 4'");
    const Json faults = report("faults --top 0 --by mode,class");
    const Json ffaults = report("ffaults --top 0");
    const Json anon = report("anon --top 0");
    const Json filepages = report("filepages --top 0");
    EXPECT_EQ(lost_in(faults), 0U);
    for (const char* figure : {"count", "minor", "major"}) {
      EXPECT_EQ(sum_of(faults, 0, figure), total_of(ffaults, figure)) << figure;
      EXPECT_EQ(sum_of(ffaults, 0, figure), total_of(ffaults, figure)) << figure;
    }
    const auto rows_with = [](const Json& of, const char* key, const char* value) {
      std::uint64_t sum = 0;
      for (const Json& row : of.at("tables").at(0).at("rows")) {
        sum += row.at(key) == value ? row.at("count").get<std::uint64_t>() : 0;
      }
      return sum;
    };
    // The copy of a file's page is in both views; [special] is the kernel's own, as the vDSO.
    const std::uint64_t placed = sum_of(anon, 0, "fault") + sum_of(anon, 0, "pgin") +
                                 sum_of(anon, 0, "cow") - sum_of(filepages, 0, "cow") +
                                 sum_of(filepages, 0, "fault");
    tried.expect_equal(placed + rows_with(ffaults, "file", "[special]"),
                       total_of(ffaults, "count"),
                       "faults by their places");
    EXPECT_EQ(sum_of(filepages, 0, "major") + sum_of(anon, 0, "pgin"), total_of(ffaults, "major"));
    const Json hfaults = report("hfaults --top 0");
    EXPECT_EQ(total_of(hfaults, "count"), rows_with(faults, "class", "huge"));
    const Json pages = report("pages --top 0");
    const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_EQ(sum_of(anon, 0, "alloc"), total_of(pages, "bytes") / page_bytes);
    EXPECT_EQ(sum_of(filepages, 0, "alloc"), total_of(pages, "bytes") / page_bytes);
  });
}

// Counts each fault that is carried out; those without a user's instruction have no event: the page
// with the arguments that an execve(2) fills in.
TEST_F(AgreementTest, faults_that_a_memory_cgroup_counted) {
  constexpr std::uint64_t kExecs = 4;
  const MemoryGroup group(dir_.path(), 256 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  record("--for faults --call-graph none -- " + group.enter() +
         "sh -c '$PUPPETS/touch_pages 700; ls / >listed; $PUPPETS/fault_kinds copy 100'");
  auto counted = figures_in(group.path() + "/memory.stat");
  const Json faults = report("count --top 0 --by event,cgroup");
  EXPECT_EQ(lost_in(faults), 0U);
  std::map<std::string, std::uint64_t> ours;
  for (const Json& row : faults.at("tables").at(0).at("rows")) {
    if (row.at("cgroup").is_string() &&
        group.path().ends_with(row.at("cgroup").get<std::string>())) {
      ours[row.at("event")] = row.at("count").get<std::uint64_t>();
    }
  }
  EXPECT_EQ(ours["major-faults"], counted["pgmajfault"]);
  EXPECT_GE(ours["minor-faults"], 900U) << faults.dump(1);
  EXPECT_LE(ours["minor-faults"] + ours["major-faults"], counted["pgfault"]);
  EXPECT_GE(ours["minor-faults"] + ours["major-faults"] + 2 * kExecs, counted["pgfault"]);
}

TEST_F(AgreementTest, huge_pages_that_faults_and_collapses_made) {
  if (run("$PUPPETS/press_memory collapse 1").status != 0) {
    GTEST_SKIP() << "no MADV_COLLAPSE here";
  }
  expect_some_try([this](Try& tried) {
    const Grown grown = record(
        "-a --for hfaults,compaction -- sh -c '$PUPPETS/fault_kinds thp 4; $PUPPETS/press_memory "
        "collapse 3'");
    const Json hfaults = report("hfaults --top 0");
    if (!tried.expect_none_lost(hfaults)) {
      return;
    }
    const std::uint64_t faulted = total_of(hfaults, "thp");
    const std::uint64_t collapsed = total_of(report("compaction --top 0"), "collapsed");
    tried.expect_equal(std::min<std::uint64_t>(faulted, 4), 4, "huge pages of the puppet");
    tried.expect_equal(std::min<std::uint64_t>(collapsed, 3), 3, "collapsed by the puppet");
    tried.expect_equal(faulted, grown.by("thp_fault_alloc"), "thp_fault_alloc");
    tried.expect_equal(collapsed, grown.by("thp_collapse_alloc"), "thp_collapse_alloc");
  });
}

TEST_F(AgreementTest, reclaim_in_a_cgroup) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  expect_some_try([&](Try& tried) {
    const Grown grown = record("-a --for vmscan,reclaim -- " + group.enter() +
                               "$PUPPETS/press_memory file data 8192");
    const Json vmscan = report("vmscan --top 0 --show all");
    const Json reclaim = report("reclaim --top 0");
    if (!tried.expect_none_lost(vmscan)) {
      return;
    }
    tried.expect_equal(total_of(reclaim, "count"), sum_of(vmscan, 0, "reclaims"), "reclaims");
    tried.expect_equal(total_of(reclaim, "time_ns"),
                       total_of(vmscan, "memcg_ns") + total_of(vmscan, "direct_ns"),
                       "time of reclaims");
    tried.expect_equal(sum_of(vmscan, 0, "scanned"), total_of(vmscan, "scanned"), "rows, total");
    const std::uint64_t stolen = grown.by("pgsteal_file") + grown.by("pgsteal_anon");
    tried.expect_equal(std::min<std::uint64_t>(stolen, 2000), 2000, "pages of the puppet");
    tried.expect_equal(
        total_of(vmscan, "scanned"), grown.by("pgscan_file") + grown.by("pgscan_anon"), "pgscan");
    tried.expect_equal(total_of(vmscan, "reclaimed"), stolen, "pgsteal");
  });
}

// kmalloc is the slab caches of its name, and what is left of slabs and of pages is what leaks.
TEST_F(AgreementTest, memory_of_the_kernel) {
  record("--for kmalloc,slab,kleaks -- $PUPPETS/leak_kernel 100");
  const Json kmalloc = report("kmalloc --top 0");
  const Json slab = report("slab --top 0 --by cache");
  EXPECT_EQ(lost_in(slab), 0U);
  std::uint64_t allocs = 0;
  std::uint64_t bytes = 0;
  for (const Json& row : slab.at("tables").at(0).at("rows")) {
    if (begins_with(row.at("cache"), "kmalloc-")) {
      allocs += row.at("allocs").get<std::uint64_t>();
      bytes += row.at("bytes").get<std::uint64_t>();
    }
  }
  EXPECT_EQ(total_of(kmalloc, "count"), allocs) << slab.dump(1);
  EXPECT_EQ(total_of(kmalloc, "bytes_alloc"), bytes);
  EXPECT_EQ(sum_of(slab, 0, "live_bytes"), total_of(slab, "live_bytes"));
  // Memory of each CPU is in neither.
  std::uint64_t per_cpu = 0;
  std::uint64_t per_cpu_bytes = 0;
  const Json kleaks = report("kleaks --top 0 --by kind");
  for (const Json& row : kleaks.at("tables").at(0).at("rows")) {
    if (row.at("kind") == "per cpu") {
      per_cpu += row.at("count").get<std::uint64_t>();
      per_cpu_bytes += row.at("bytes").get<std::uint64_t>();
    }
  }
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t pages = total_of(kleaks, "count") - total_of(slab, "live_objects") - per_cpu;
  const std::uint64_t bytes_of_pages =
      total_of(kleaks, "bytes") - total_of(slab, "live_bytes") - per_cpu_bytes;
  EXPECT_GE(bytes_of_pages, pages * page_bytes);
  EXPECT_EQ(bytes_of_pages % page_bytes, 0U);
}

// With programs that become others, whose heaps are gone then.
TEST_F(AgreementTest, heaps_of_programs) {
  record(
      "--for malloc,leaks,heap,brk -- sh -c \"sh -c 'exec $PUPPETS/heap_costs'; exec "
      "$PUPPETS/heap_costs\"");
  const Json malloc = report("malloc --top 0");
  const Json leaks = report("leaks --top 0");
  const Json heap = report("heap --top 0");
  EXPECT_EQ(lost_in(heap), 0U);
  EXPECT_EQ(total_of(heap, "allocs"), total_of(malloc, "count"));
  EXPECT_EQ(total_of(heap, "bytes"), total_of(malloc, "bytes"));
  EXPECT_EQ(total_of(heap, "leaked"), total_of(leaks, "bytes"));
  EXPECT_EQ(total_of(heap, "leaked_count"), total_of(leaks, "count"));
  EXPECT_EQ(total_of(leaks, "count"), 200U);
  EXPECT_EQ(sum_of(heap, 0, "leaked"), total_of(heap, "leaked"));
  EXPECT_EQ(total_of(heap, "from_kernel"), total_of(leaks, "from_kernel"));
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
