#include "cli/top/process_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/top/pane.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

// Columns of the table; pid and comm are the first two.
enum Place : std::size_t {
  KmallocPlace = 2,
  PagesPlace,
  LivePlace,
  FaultsPlace,
  MajorPlace,
  RssPlace
};

// A process that called execve(2) in the interval has a row for each of its names, and a thread
// with a name of its own has one. Resident memory is in that of the name that the process has now.
using ProcessRows = std::map<std::pair<std::uint64_t, std::string>, std::vector<Cell>>;

std::vector<Cell>& row_of(ProcessRows& rows, std::uint64_t pid, const std::string& comm) {
  std::vector<Cell>& row = rows[{pid, comm}];
  if (row.empty()) {
    row = {pid, comm, {}, {}, {}, {}, {}, {}};
  }
  return row;
}

std::size_t column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

// Copies a column of the view's first table to a place of the rows.
void add_column(ProcessRows& rows, const Report& report, std::string_view name, Place place) {
  if (report.tables.empty()) {
    return;
  }
  const Table& table = report.tables.front();
  const std::size_t pid = column_of(table, "pid");
  const std::size_t comm = column_of(table, "comm");
  const std::size_t figure = column_of(table, name);
  if (std::max({pid, comm, figure}) >= table.columns.size()) {
    return;
  }
  for (const std::vector<Cell>& row : table.rows) {
    const auto* number = std::get_if<std::uint64_t>(&row[pid]);
    const auto* text = std::get_if<std::string>(&row[comm]);
    if (number != nullptr && text != nullptr) {
      row_of(rows, *number, *text)[place] = row[figure];
    }
  }
}

// A process that the view has no row of did nothing, if the view had its events.
void fill_zeros(ProcessRows& rows, const Report& report, std::span<const Place> places) {
  if (report.inconclusive && !report.nothing_happened) {
    return;
  }
  for (auto& [key, row] : rows) {
    for (const Place place : places) {
      const bool is_unknown = std::holds_alternative<std::monostate>(row[place]);
      row[place] = is_unknown ? Cell(std::uint64_t{0}) : row[place];
    }
  }
}

// The second word of statm is the resident memory in pages (Documentation/filesystems/proc.rst).
std::uint64_t resident_bytes(std::uint32_t pid) {
  const std::string statm = proc_text(pid, "statm");
  const auto words = proc_words(statm);
  const auto pages = words.size() > 1 ? parse_number(words[1]) : std::nullopt;
  return pages.value_or(0) * page_size_bytes();
}

}  // namespace

std::vector<ResidentProcess> read_resident(const std::vector<std::uint32_t>& pids) {
  const auto all = pids.empty() ? process_ids() : Result<std::vector<std::uint32_t>>(pids);
  std::vector<ResidentProcess> processes;
  if (!all.ok()) {
    return processes;
  }
  for (const std::uint32_t pid : all.value()) {
    if (const std::uint64_t rss_bytes = resident_bytes(pid); rss_bytes != 0) {
      processes.push_back({pid, std::string(parse_comm(proc_text(pid, "comm"))), rss_bytes});
    }
  }
  return processes;
}

Table process_table(const std::vector<Report>& reports,
                    const std::vector<ResidentProcess>& resident) {
  ProcessRows rows;
  if (reports.size() > kFaultsByProcess) {
    add_column(rows, reports[kKmallocByProcess], "bytes_alloc", KmallocPlace);
    add_column(rows, reports[kPagesByProcess], "bytes", PagesPlace);
    add_column(rows, reports[kPagesByProcess], "live_bytes", LivePlace);
    add_column(rows, reports[kFaultsByProcess], "count", FaultsPlace);
    add_column(rows, reports[kFaultsByProcess], "major", MajorPlace);
  }
  for (const ResidentProcess& process : resident) {
    row_of(rows, process.pid, process.comm)[RssPlace] = process.rss_bytes;
  }
  if (reports.size() > kFaultsByProcess) {
    fill_zeros(rows, reports[kKmallocByProcess], std::array{KmallocPlace});
    fill_zeros(rows, reports[kPagesByProcess], std::array{PagesPlace, LivePlace});
    fill_zeros(rows, reports[kFaultsByProcess], std::array{FaultsPlace, MajorPlace});
  }
  Table table{.title = "by process",
              .columns = {{"pid", Unit::Number},
                          {"comm", Unit::Text},
                          {"kmalloc", Unit::Bytes},
                          {"pages", Unit::Bytes},
                          {"live", Unit::Bytes},
                          {"faults", Unit::Count},
                          {"major", Unit::Count},
                          {"rss", Unit::Bytes}},
              .key_count = 2,
              .sort = "pages"};
  for (auto& [key, row] : rows) {
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace memtrace
