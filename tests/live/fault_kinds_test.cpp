// Page faults of each kind, caused on purpose: this number, in that class, and no others there;
// against what getrusage(2) and perf count.
#include <fstream>

#include "live/folio_setting.h"
#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kWrite = "write_each_page";
constexpr const char* kTouch = "touch_each_page";

struct Usage {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
  std::uint64_t grown_kib = 0;  // its Rss
};

// Adds this number of huge pages to the pool, as long as it lives.
class HugePagePool {
 public:
  explicit HugePagePool(long more) : before_(pages()), wanted_(before_ + more) { set(wanted_); }

  HugePagePool(const HugePagePool&) = delete;
  HugePagePool& operator=(const HugePagePool&) = delete;

  ~HugePagePool() { set(before_); }

  bool has_pages() const { return pages() >= wanted_; }

 private:
  static constexpr const char* kFile = "/proc/sys/vm/nr_hugepages";

  static long pages() {
    long pages = 0;
    std::ifstream(kFile) >> pages;
    return pages;
  }

  static void set(long pages) { std::ofstream(kFile) << pages; }

  long before_ = 0;
  long wanted_ = 0;
};

class FaultKindsTest : public LiveTest {
 protected:
  // Records a puppet; what it said of itself.
  Usage play(const std::string& words, const char* views = "faults") {
    const Outcome outcome = run_well(std::string("$MEMTRACE record --for ") + views +
                                     " -- $PUPPETS/fault_kinds " + words);
    std::istringstream line(
        outcome.out.substr(std::min(outcome.out.find("minor"), outcome.out.size())));
    std::string word;
    Usage usage;
    line >> word >> usage.minor >> word >> usage.major >> word >> pid_ >> word >> usage.grown_kib;
    EXPECT_EQ(word, "grown") << outcome.all();
    return usage;
  }

  // The sum of the rows at this function.
  std::uint64_t faults_at(std::string_view function, const char* fault_class) {
    std::uint64_t sum = 0;
    for (const Json& row : by_class_.at("tables").at(0).at("rows")) {
      const Json& stack = row.at("stack");
      const bool there = !stack.empty() && begins_with(stack.front(), function);
      sum += there && row.at("class") == fault_class ? row.at("count").get<std::uint64_t>() : 0;
    }
    return sum;
  }

  // All faults of the function are of this class, and this is their number.
  void expect_class(std::string_view function, const char* fault_class, std::uint64_t count) {
    by_class_ = report("faults --user --top 0 --by stack,class");
    EXPECT_EQ(faults_at(function, fault_class), count);
    EXPECT_EQ(sum_at_function(by_class_, function), count) << by_class_.dump(1);
    EXPECT_EQ(lost_in(by_class_), 0U);
  }

  // What the faults of a function made resident is what the kernel says of the process.
  void expect_grown(const std::string& words, const char* function, std::uint64_t kib) {
    const Usage usage = play(words);
    EXPECT_EQ(usage.grown_kib, kib) << words;
    const Json faults = report("faults --user --top 0 --by stack");
    EXPECT_EQ(sum_at_function(faults, function, "resident"), usage.grown_kib * 1024)
        << words << faults.dump(1);
    EXPECT_EQ(lost_in(faults), 0U);
  }

  // A file of this number of pages in the test's folder, which is no tmpfs where the figures need a
  // disk.
  std::string make_file(std::size_t pages) {
    const std::string path = dir_.path() + "/pages";
    std::ofstream file(path, std::ios::binary);
    while (pages-- > 0) {  // those of one large write are mapped by one fault
      file << std::string(4096, 'x');
    }
    return path;
  }

  std::uint32_t pid_ = 0;
  Json by_class_;
};

TEST_F(FaultKindsTest, fresh_pages_are_zero_fill) {
  run_well("$MEMTRACE record --for faults -- $PUPPETS/touch_pages 700");
  expect_class("touch_fresh_pages", "zero-fill", 700);
}

TEST_F(FaultKindsTest, pages_shared_with_a_parent_are_copied_on_write) {
  const Usage usage = play("copy 300");
  EXPECT_GE(usage.minor, 300U);
  expect_class(kWrite, "copy-on-write", 300);
}

TEST_F(FaultKindsTest, pages_of_a_dropped_file_are_file_major_and_by_its_path) {
  const std::string path = make_file(200);
  const Usage usage = play("file 200 " + path, "faults,ffaults");
  if (usage.major < 200) {
    GTEST_SKIP() << "the scratch folder's file system keeps files in memory: nothing is read";
  }
  EXPECT_EQ(usage.major, 200U);
  expect_class(kTouch, "file major", 200);
  const Json by_file = report("ffaults --top 0 --by file,class");
  std::uint64_t major = 0;
  for (const Json& row : by_file.at("tables").at(0).at("rows")) {
    major += row.at("file") == path ? row.at("major").get<std::uint64_t>() : 0;
  }
  EXPECT_EQ(major, 200U);
}

TEST_F(FaultKindsTest, pages_of_a_cached_file_are_file_minor_in_ranges_of_it) {
  const std::string path = make_file(256);
  const Usage usage = play("cached 256 " + path, "faults,ffaults");
  EXPECT_EQ(usage.major, 0U);
  expect_class(kWrite, "file minor", 256);
  const Json ranges = report("ffaults --top 0 --by file,offset --range 256K");
  std::map<std::string, std::uint64_t> by_offset;
  for (const Json& row : ranges.at("tables").at(0).at("rows")) {
    if (row.at("file") == path) {
      by_offset[row.at("offset").dump()] = row.at("minor");
    }
  }
  EXPECT_EQ(by_offset.size(), 4U) << ranges.dump(1);
  for (const auto& [offset, minor] : by_offset) {
    EXPECT_EQ(minor, 64U) << offset;
  }
}

TEST_F(FaultKindsTest, writes_to_a_private_mapping_of_a_file_are_copies) {
  play("private 150 " + make_file(150));
  expect_class(kWrite, "copy-on-write", 150);
}

TEST_F(FaultKindsTest, pages_of_shared_memory_are_a_class_of_their_own) {
  play("shared 150");
  expect_class(kWrite, "shared memory", 150);
}

TEST_F(FaultKindsTest, failures_go_by_their_signal_and_cost_no_minor_fault) {
  play("forbidden 120");
  expect_class(kTouch, "SIGSEGV", 120);
  EXPECT_EQ(sum_at_function(by_class_, kTouch, "minor"), 0U);
  play("beyond 60 " + make_file(60));
  expect_class(kTouch, "SIGBUS", 60);
}

TEST_F(FaultKindsTest, first_writes_to_pages_of_zeros_are_told_from_copies) {
  play("zero 250");
  expect_class(kWrite, "zero-page write", 250);
  EXPECT_EQ(faults_at(kTouch, "zero-fill"), 250U);
}

TEST_F(FaultKindsTest, resident_is_what_the_rss_of_the_process_grew_by) {
  expect_grown("drop 300", kWrite, 1200);
  expect_grown("shared 150", kWrite, 600);
  expect_grown("zero 250", kWrite, 1000);
  expect_grown("copy 200", kWrite, 0);
  expect_grown("cached 64 " + make_file(64), kWrite, 256);
  expect_grown("private 64 " + make_file(64), kWrite, 256);
  expect_grown("file 100 " + make_file(100), kTouch, 400);
  play("forbidden 50");
  EXPECT_EQ(sum_at_function(report("faults --user --top 0"), kTouch, "resident"), 0U);
}

// The page of zeros, which is read first, is no part of Rss.
TEST_F(FaultKindsTest, reads_of_the_page_of_zeros_make_nothing_resident) {
  play("zero 250");
  by_class_ = report("faults --user --top 0 --by stack,class");
  EXPECT_EQ(faults_at(kTouch, "zero-fill"), 250U);
  EXPECT_EQ(sum_at_function(by_class_, kTouch, "resident"), 0U);
}

TEST_F(FaultKindsTest, one_fault_makes_a_whole_folio_resident) {
  const FolioSetting huge(folio_folder(2048) + "/enabled");
  for (const int kilobytes : {16, 64, 1024}) {
    const FolioSetting wanted(folio_folder(kilobytes) + "/enabled");
    if (!huge.is_there() || !wanted.is_there()) {
      GTEST_SKIP() << "this kernel has no large folios of anonymous memory (6.8 and later)";
    }
    huge.set("never");
    wanted.set("always");
    expect_grown("folios 1024", kWrite, 4096);
    EXPECT_LT(sum_at_function(report("faults --user --top 0"), kWrite), 1024U) << kilobytes;
  }
}

TEST_F(FaultKindsTest, huge_pages_are_resident_as_a_whole_and_those_of_hugetlb_are_no_part_of_rss) {
  if (play("thp 5").minor > 2000) {
    GTEST_SKIP() << "the kernel gave no transparent huge pages";
  }
  expect_grown("thp 5", kWrite, 5 * 2048);
  // The first process that reads one may allocate the huge page of zeros. It stays.
  const std::uint64_t grown_kib = play("zero-thp 3").grown_kib;
  expect_grown("zero-thp 3", kWrite, grown_kib);
  const HugePagePool pool(6);
  if (!pool.has_pages()) {
    GTEST_SKIP() << "there are no six huge pages to be had for the pool";
  }
  expect_grown("hugetlb 6", kWrite, 0);
}

TEST_F(FaultKindsTest, transparent_huge_pages_are_one_fault_each) {
  const Usage usage = play("thp 5", "faults,hfaults");
  if (usage.minor > 2000) {
    GTEST_SKIP() << "the kernel gave no transparent huge pages";
  }
  expect_class(kWrite, "huge", 5);
  const Json huge = report("hfaults --by comm");
  EXPECT_EQ(figure_of(huge, "comm", "fault_kinds", "thp"), 5U);
  EXPECT_EQ(figure_of(huge, "comm", "fault_kinds", "hugetlb"), 0U);
}

TEST_F(FaultKindsTest, hugetlb_pages_are_one_fault_each_and_apart_from_transparent_ones) {
  const HugePagePool pool(6);
  if (!pool.has_pages()) {
    GTEST_SKIP() << "there are no six huge pages to be had for the pool";
  }
  play("hugetlb 6", "faults,hfaults");
  expect_class(kWrite, "hugetlb", 6);
  const Json huge = report("hfaults --by comm");
  EXPECT_EQ(figure_of(huge, "comm", "fault_kinds", "hugetlb"), 6U);
  EXPECT_EQ(figure_of(huge, "comm", "fault_kinds", "thp"), 0U);
}

TEST_F(FaultKindsTest, hugetlb_mappings_from_before_the_recording_are_known) {
  const HugePagePool pool(6);
  if (!pool.has_pages()) {
    GTEST_SKIP() << "there are no six huge pages to be had for the pool";
  }
  run_well(
      "mkfifo go; $PUPPETS/hold_huge 2 <go >told & PID=$!; exec 9>go\n"
      "await mapped told $PID || exit 1\n"
      "begin $MEMTRACE record --for hfaults -p $PID; echo >&9; wait $RECORDER");
  const Json huge = report("hfaults --by comm,kind");
  EXPECT_EQ(figure_of(huge, "comm", "hold_huge", "hugetlb"), 6U) << huge.dump();
  EXPECT_EQ(figure_of(huge, "kind", "hugetlb", "failed"), 0U);
}

TEST_F(FaultKindsTest, latency_is_in_the_rows_and_the_histogram_and_less_than_the_run) {
  play("shared 400");
  const Json faults = report("faults --by pid");
  const Json& rows = faults.at("tables").at(0).at("rows");
  ASSERT_FALSE(rows.empty());
  const Json& row = rows.at(0);
  EXPECT_GE(row.at("minor"), 400);
  EXPECT_GT(row.at("p50"), 100);  // nanoseconds: no kernel takes a fault in less
  EXPECT_LE(row.at("p50"), row.at("p99"));
  EXPECT_LE(row.at("p99"), row.at("max"));
  EXPECT_LT(row.at("time").get<std::uint64_t>(),
            faults.at("end_ns").get<std::uint64_t>() - faults.at("start_ns").get<std::uint64_t>());
  std::uint64_t in_buckets = 0;
  for (const Json& bucket : faults.at("histograms").at(0).at("buckets")) {
    in_buckets += bucket.at("count").get<std::uint64_t>();
  }
  const Json& totals = faults.at("totals");
  EXPECT_EQ(in_buckets,
            totals.at("minor").get<std::uint64_t>() + totals.at("major").get<std::uint64_t>());
}

TEST_F(FaultKindsTest, trace_has_a_line_for_each_fault_in_order_of_time) {
  play("shared 100");
  const Json faults = traced_report("faults");
  const Json& rows = faults.at("lines");
  std::uint64_t shared = 0;
  std::uint64_t last_ns = 0;
  for (const Json& row : rows) {
    shared += row.at("class") == "shared memory" && row.at("pid") == pid_ ? 1 : 0;
    EXPECT_LE(last_ns, row.at("at_ns").get<std::uint64_t>());
    last_ns = row.at("at_ns");
  }
  EXPECT_EQ(shared, 100U);
}

TEST_F(FaultKindsTest, faults_are_as_many_as_getrusage_has) {
  const Usage usage = play("drop 2000");
  const Json faults = report("faults --by stack --user --top 0");
  EXPECT_EQ(sum_at_function(faults, kWrite, "minor"), 2000U);
  EXPECT_NEAR(static_cast<double>(usage.minor), 2000, 2);
}

TEST_F(FaultKindsTest, all_faults_of_a_program_are_those_that_perf_stat_counts) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const std::string puppet = " -- $PUPPETS/fault_kinds shared 500";
  const Outcome stat =
      run_well("perf stat -x, -e minor-faults,major-faults" + puppet + " 2>&1 >/dev/null");
  std::istringstream lines(stat.out);
  std::string line;
  double counted = 0;
  while (std::getline(lines, line)) {
    counted += std::stod(line);
  }
  run_well("$MEMTRACE record --for faults" + puppet);
  const Json totals = report("faults --by mode").at("totals");
  // Starting a program faults as often each time, but for some pages of its randomised places.
  EXPECT_NEAR(totals.at("minor").get<double>() + totals.at("major").get<double>(), counted, 12);
}

TEST_F(FaultKindsTest, anonymous_pages_are_counted_when_they_come_and_when_they_go) {
  play("drop 600", "anon");
  const Json anon = report("anon --by comm");
  const std::uint64_t faults = figure_of(anon, "comm", "fault_kinds", "fault");
  const std::uint64_t freed = figure_of(anon, "comm", "fault_kinds", "ufree");
  EXPECT_GE(faults, 600U);
  EXPECT_LE(faults, 700U);  // those of its start
  EXPECT_GE(freed, 600U);
  EXPECT_LE(freed, 700U);
  EXPECT_EQ(figure_of(anon, "comm", "fault_kinds", "unmap"), 0U);
}

TEST_F(FaultKindsTest, copies_are_in_the_row_of_the_child_that_wrote) {
  play("copy 300", "anon");
  const Json anon = report("anon --by pid");
  const std::uint64_t copies = figure_of(anon, "pid", pid_, "cow");
  EXPECT_GE(copies, 300U);
  EXPECT_LE(copies, 360U);  // and its stack's and data's pages
}

TEST_F(FaultKindsTest, pages_of_a_file_come_into_the_page_cache_under_its_path) {
  const std::string path = make_file(128);
  const Usage usage = play("file 128 " + path, "filepages");
  if (usage.major < 128) {
    GTEST_SKIP() << "the scratch folder's file system keeps files in memory: nothing is read";
  }
  const Json pages = report("filepages --top 0");
  for (const Json& row : pages.at("tables").at(1).at("rows")) {
    if (row.at("file") == path) {
      EXPECT_EQ(row.at("major"), 128);
      EXPECT_EQ(row.at("cache_add"), 128);
      return;
    }
  }
  ADD_FAILURE() << path << " has no row\n" << pages.dump(1);
}

}  // namespace
}  // namespace memtrace::test
