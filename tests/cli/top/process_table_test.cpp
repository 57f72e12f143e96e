#include "cli/top/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "cli/top/pane.h"

namespace memtrace {
namespace {

Report report_of(std::vector<Column> figures, std::vector<std::vector<Cell>> rows) {
  Table table{.columns = {{"comm", Unit::Text}, {"pid", Unit::Number}}, .key_count = 2};
  table.columns.insert(table.columns.end(), figures.begin(), figures.end());
  table.rows = std::move(rows);
  Report report;
  report.tables.push_back(std::move(table));
  return report;
}

Cell number_of(std::uint64_t value) {
  return value;
}

std::vector<Report> three_reports() {
  return {report_of({{"bytes_alloc", Unit::Bytes}}, {{"cat", number_of(7), number_of(100)}}),
          report_of({{"bytes", Unit::Bytes}, {"live_bytes", Unit::Bytes}},
                    {{"cat", number_of(7), number_of(4096), number_of(0)},
                     {"dog", number_of(8), number_of(8192), number_of(8192)}}),
          report_of({{"count", Unit::Count}, {"major", Unit::Count}},
                    {{"dog", number_of(8), number_of(3), number_of(1)}})};
}

const std::vector<Cell>* row_of(const Table& table, std::uint64_t pid) {
  const auto found = std::ranges::find_if(
      table.rows, [pid](const auto& row) { return std::get<std::uint64_t>(row[0]) == pid; });
  return found == table.rows.end() ? nullptr : &*found;
}

TEST(ProcessTable, joins_what_the_views_say_of_a_process) {
  const Table table = process_table(three_reports(), {{8, "dog", 65536}});
  ASSERT_EQ(table.rows.size(), 2U);
  const std::vector<Cell> cat = {number_of(7),
                                 "cat",
                                 number_of(100),
                                 number_of(4096),
                                 number_of(0),
                                 number_of(0),
                                 number_of(0),
                                 Cell()};
  const std::vector<Cell> dog = {number_of(8),
                                 "dog",
                                 number_of(0),
                                 number_of(8192),
                                 number_of(8192),
                                 number_of(3),
                                 number_of(1),
                                 number_of(65536)};
  EXPECT_EQ(*row_of(table, 7), cat);
  EXPECT_EQ(*row_of(table, 8), dog);
}

TEST(ProcessTable, process_without_events_has_a_row_of_its_memory) {
  const Table table = process_table(three_reports(), {{9, "idle", 4096}});
  ASSERT_NE(row_of(table, 9), nullptr);
  EXPECT_EQ(row_of(table, 9)->at(7), number_of(4096));
  EXPECT_EQ(row_of(table, 9)->at(2), number_of(0));
}

// It called execve(2), or a thread has its own name: the memory is there once.
TEST(ProcessTable, resident_memory_is_in_the_row_of_the_name_that_the_process_has) {
  const Table table = process_table(three_reports(), {{7, "tiger", 65536}});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].at(1), Cell("cat"));
  EXPECT_EQ(table.rows[0].at(7), Cell());
  EXPECT_EQ(table.rows[1].at(1), Cell("tiger"));
  EXPECT_EQ(table.rows[1].at(7), number_of(65536));
}

TEST(ProcessTable, figures_of_events_that_were_not_recorded_stay_unknown) {
  std::vector<Report> reports = three_reports();
  reports[kKmallocByProcess] = report_of({{"bytes_alloc", Unit::Bytes}}, {});
  reports[kKmallocByProcess].inconclusive = true;
  const Table table = process_table(reports, {});
  EXPECT_EQ(row_of(table, 8)->at(2), Cell());
  EXPECT_EQ(row_of(table, 7)->at(5), number_of(0)) << "faults were recorded";
}

TEST(ProcessTable, nothing_happened_is_zero) {
  std::vector<Report> reports = three_reports();
  reports[kKmallocByProcess] = report_of({{"bytes_alloc", Unit::Bytes}}, {});
  reports[kKmallocByProcess].inconclusive = true;
  reports[kKmallocByProcess].nothing_happened = true;
  EXPECT_EQ(row_of(process_table(reports, {}), 8)->at(2), number_of(0));
}

TEST(ResidentProcesses, proc_says_what_this_process_has) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const auto processes = read_resident({pid, 0x7fffffff});
  ASSERT_EQ(processes.size(), 1U) << "nobody has the last pid";
  EXPECT_EQ(processes[0].pid, pid);
  EXPECT_EQ(processes[0].comm, "cli_test");
  EXPECT_GT(processes[0].rss_bytes, 1U << 20U);
  const auto all = read_resident({});
  EXPECT_NE(std::ranges::find(all, pid, &ResidentProcess::pid), all.end());
}

}  // namespace
}  // namespace memtrace
