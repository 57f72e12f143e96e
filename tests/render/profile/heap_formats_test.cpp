// massif and heaptrack files: made from the heap view's table, totals and series.
#include <gtest/gtest.h>

#include <sstream>

#include "render/all/all_renderers.h"
#include "support/golden.h"

namespace memtrace {
namespace {

constexpr StackId kParse{1};
constexpr StackId kRead{2};

std::uint64_t number(std::uint64_t value) {
  return value;
}

Report heap_report() {
  Report report{.view = "heap", .title = "heap", .start_ns = 5'000'000, .end_ns = 105'000'000};
  report.origin.target = "demo";
  report.totals = {{"peak", Unit::Bytes, 1500}, {"peak_at_ns", Unit::Nanoseconds, 40'000'000}};
  report.tables = {
      {.columns = {{"stack", Unit::Stack},
                   {"allocs", Unit::Count},
                   {"bytes", Unit::Bytes},
                   {"peak", Unit::Bytes},
                   {"leaked", Unit::Bytes},
                   {"leaked_count", Unit::Count},
                   {"temporary", Unit::Count}},
       .key_count = 1,
       .sort = "peak",
       .weight = "peak",
       .rows = {{kParse, number(4), number(1300), number(1000), number(7), number(2), number(1)},
                {kRead, number(3), number(600), number(500), number(600), number(3), number(0)}}}};
  report.series = {
      {"consumed", Unit::Bytes, {{5'000'000, 0}, {25'000'000, 900}, {90'000'000, 700}}}};
  report.stacks = {
      {kParse,
       {{.function = "malloc", .module = "libc.so.6", .address = 0x10},
        {.function = "parse", .module = "demo", .file = "/src/p.c", .line = 3, .address = 0x20},
        {.function = "main", .module = "demo", .address = 0x30}}},
      {kRead,
       {{.function = "malloc", .module = "libc.so.6", .address = 0x10},
        {.function = "main", .module = "demo", .address = 0x38}}}};
  return report;
}

std::string rendered(std::string_view format, const Report& report) {
  std::ostringstream out;
  make_renderer(format, {.version = "1.2.3"})->render(report, out);
  return out.str();
}

TEST(Massif, the_heap_view_is_the_golden_file) {
  test::expect_golden("heap.massif", rendered("massif", heap_report()));
}

TEST(Massif, small_places_are_merged) {
  Report report = heap_report();
  report.tables[0].rows[0][3] = number(10'000'000);
  const std::string text = rendered("massif", report);
  EXPECT_NE(text.find("n0: 500 in 1 place, all below memtrace's threshold (0.10%)"),
            std::string::npos)
      << text;
}

TEST(Heaptrack, the_heap_view_is_the_golden_file) {
  test::expect_golden("heap.heaptrack", rendered("heaptrack", heap_report()));
}

// What heaptrack itself makes of a file's calls.
struct Sums {
  std::uint64_t calls = 0;
  std::uint64_t temporary = 0;
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
};

Sums sums_of(const std::string& file) {
  Sums sums;
  std::vector<std::uint64_t> sizes;
  std::istringstream lines(file);
  std::string line;
  std::string last;
  while (std::getline(lines, line)) {
    const std::uint64_t first = line.size() < 3 ? 0 : std::strtoull(line.c_str() + 2, nullptr, 16);
    if (line[0] == 'a') {
      sizes.push_back(first);
    } else if (line[0] == '+') {
      ++sums.calls;
      sums.live += sizes.at(first);
      sums.peak = std::max(sums.peak, sums.live);
    } else if (line[0] == '-') {
      sums.live -= sizes.at(first);
      sums.temporary += last == "+" + line.substr(1) ? 1 : 0;
    }
    last = line[0] == '+' || line[0] == '-' ? line : last;
  }
  return sums;
}

TEST(Heaptrack, the_calls_that_are_made_up_have_the_sums_of_the_report) {
  const Sums sums = sums_of(rendered("heaptrack", heap_report()));
  EXPECT_EQ(sums.calls, 7U);
  EXPECT_EQ(sums.temporary, 1U);
  EXPECT_EQ(sums.peak, 1500U);
  EXPECT_EQ(sums.live, 607U);
}

TEST(Heaptrack, a_block_that_lives_at_the_peak_alone_is_not_temporary) {
  Report report = heap_report();
  report.tables[0].rows = {
      {kParse, number(1), number(100), number(100), number(0), number(0), number(0)}};
  const Sums sums = sums_of(rendered("heaptrack", report));
  EXPECT_EQ(sums.calls, 1U);
  EXPECT_EQ(sums.temporary, 0U);
  EXPECT_EQ(sums.peak, 100U);
  EXPECT_EQ(sums.live, 0U);
}

}  // namespace
}  // namespace memtrace
