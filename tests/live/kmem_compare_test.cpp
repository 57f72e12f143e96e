// perf kmem stat and memtrace on one file, figure by figure.
#include <cctype>
#include <thread>
#include <vector>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

// For the puppet only: the two tools count differently what others free untraced, in bulk.
std::string record(const std::string& work) {
  return "perf record -q -g -m 8M -o kmem.data -e kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,"
         "kmem:kmem_cache_free,kmem:mm_page_alloc,kmem:mm_page_free -- $PUPPETS/" +
         work;
}

// "Total bytes requested: 1,234" and "Total free requests     :   12   [  48 KB ]": the numbers of
// the line that begins so.
std::vector<double> figures(const std::string& text, const std::string& start) {
  std::vector<double> numbers;
  const std::size_t at = text.find(start);
  if (at == std::string::npos) {
    return numbers;
  }
  const std::size_t begin = at + start.size();
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  std::erase(line, ',');
  for (std::size_t i = 0; i < line.size();) {
    if (std::isdigit(static_cast<unsigned char>(line[i])) == 0) {
      ++i;
      continue;
    }
    std::size_t used = 0;
    numbers.push_back(std::stod(line.substr(i), &used));
    i += used;
  }
  return numbers;
}

// A cell of the row that is called so, in the table with the title "summary".
double summary_of(const Json& report, const char* what, const char* column) {
  for (const Json& table : report.at("tables")) {
    for (const Json& row : table.at("rows")) {
      if (row.contains("what") && row.at("what") == what) {
        return row.at(column).get<double>();
      }
    }
  }
  return -1;
}

class KmemCompareTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) {
      need_perf();
    }
  }

  // A line of perf's has these figures of memtrace's summary, in this order.
  struct Same {
    const char* line;
    const char* what;
    std::vector<const char*> columns;
    double divisor = 1;  // of bytes
  };

  static void expect_same(const std::string& perf, const Json& report, const Same& same) {
    const std::vector<double> numbers = figures(perf, same.line);
    ASSERT_GE(numbers.size(), same.columns.size()) << same.line << "\n" << perf;
    for (std::size_t i = 0; i < same.columns.size(); ++i) {
      const bool is_bytes = std::string(same.columns[i]) == "bytes";
      const double own = summary_of(report, same.what, same.columns[i]);
      EXPECT_NEAR(numbers[i], is_bytes ? own / same.divisor : own, 1e-6) << same.line;
    }
  }

  std::string perf_kmem(const std::string& words) {
    return run_well("perf kmem -i kmem.data " + words + " stat 2>&1").out;
  }
};

TEST_F(KmemCompareTest, slab_figures_are_the_same) {
  run_well(record("many_kmallocs 3000"));
  const std::string perf = perf_kmem("--slab");
  const Json slab = report("slab -i kmem.data --summary --top 0");
  ASSERT_EQ(lost_in(slab), 0U);
  for (const Same& same : std::vector<Same>{
           {"Total bytes requested", "requested", {"bytes"}},
           {"Total bytes allocated", "allocated", {"bytes"}},
           {"Total bytes freed", "freed of these", {"bytes"}},
           {"Net total bytes allocated", "not freed", {"bytes"}},
           {"Total bytes wasted on internal fragmentation", "wasted by rounding up", {"bytes"}},
           {"Internal fragmentation", "wasted by rounding up", {"percent"}}}) {
    expect_same(perf, slab, same);
  }
  EXPECT_GE(summary_of(slab, "freed of these", "count"), 3000);
  EXPECT_GE(summary_of(slab, "wasted by rounding up", "bytes"), 3000 * 1000);
}

// "load_msg+0x2f | 614400/2048 | 314400/1048 | 300 | 300 | 48.828%"
TEST_F(KmemCompareTest, each_call_site_has_the_same_figures) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one CPU: nothing can be freed on another";
  }
  run_well(record("cross_cpu 300"));
  const Json slab = report("slab -i kmem.data --by caller --top 0 --show all");
  const std::string perf = perf_kmem("--slab --caller -l 1000");
  std::uint64_t compared = 0;
  for (const Json& row : slab.at("tables").at(0).at("rows")) {
    if (!begins_with(row.at("caller"), "load_msg")) {
      continue;
    }
    const auto numbers = figures(perf, "load_msg+");
    ASSERT_GE(numbers.size(), 8U) << perf;
    const std::vector<double> known(numbers.end() - 7, numbers.end());
    EXPECT_EQ(known[0], row.at("bytes").get<double>());
    EXPECT_EQ(known[2], row.at("bytes_req").get<double>());
    EXPECT_EQ(known[4], row.at("allocs").get<double>());
    EXPECT_EQ(known[5], row.at("cross_cpu").get<double>());
    EXPECT_NEAR(known[6], row.at("waste_percent").get<double>(), 0.001);
    EXPECT_EQ(row.at("cross_cpu"), 300U);
    EXPECT_EQ(row.at("max_live_bytes"), 2048U) << "each is freed before the next";
    ++compared;
  }
  EXPECT_EQ(compared, 1U) << slab.dump(1);
}

TEST_F(KmemCompareTest, page_figures_are_the_same) {
  run_well(record("touch_pages 700"));
  const std::string perf = perf_kmem("--page");
  const Json pages = report("pages -i kmem.data --summary --top 0");
  ASSERT_EQ(lost_in(pages), 0U);
  const std::vector<const char*> both = {"count", "bytes"};
  for (const Same& same :
       std::vector<Same>{{"Total allocation requests", "allocated", both, 1024},
                         {"Total free requests", "freed", both, 1024},
                         {"Total alloc+freed requests", "allocated and freed", both, 1024},
                         {"Total alloc-only requests", "allocated only", both, 1024},
                         {"Total free-only requests", "freed only", both, 1024},
                         {"Total allocation failures", "failed", both, 1024}}) {
    expect_same(perf, pages, same);
  }
  EXPECT_GE(summary_of(pages, "allocated", "count"), 700);
}

// "    0           146         10175             .   ...": a dot is nothing.
TEST_F(KmemCompareTest, orders_have_the_same_counts) {
  run_well(record("touch_pages 700"));
  const std::string perf = perf_kmem("--page");
  const Json pages = report("pages -i kmem.data");
  const Json& matrix = pages.at("tables").at(1);
  ASSERT_EQ(matrix.at("title"), "allocations by order and migrate type");
  for (const Json& row : matrix.at("rows")) {
    double own = 0;
    for (const auto& [column, count] : row.items()) {
      own += column == "order" ? 0 : count.get<double>();
    }
    const auto numbers = figures(perf, "\n    " + std::to_string(row.at("order").get<int>()) + " ");
    double sum = 0;
    for (const double number : numbers) {
      sum += number;
    }
    EXPECT_EQ(own, sum) << row.dump();
  }
}

TEST_F(KmemCompareTest, caller_of_pages_is_who_called_the_allocator) {
  run_well(record("touch_pages 700"));
  const Json pages = report("pages -i kmem.data --by caller --top 0");
  std::uint64_t faulted = 0;
  for (const Json& row : pages.at("tables").at(0).at("rows")) {
    EXPECT_FALSE(begins_with(row.at("caller"), "alloc_pages")) << row.dump();
    EXPECT_FALSE(begins_with(row.at("caller"), "__alloc")) << row.dump();
    faulted += begins_with(row.at("caller"), "do_anonymous_page") ||
                       begins_with(row.at("caller"), "alloc_anon_folio")
                   ? row.at("allocs").get<std::uint64_t>()
                   : 0;
  }
  EXPECT_GE(faulted, 700U) << pages.dump(1);
}

}  // namespace
}  // namespace memtrace::test
