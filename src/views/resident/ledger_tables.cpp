#include "views/resident/ledger_tables.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

// So many rows have their changes listed; the others have them in one sum.
constexpr std::size_t kMostRows = 5;

// A process, a mapping, or a mapping of a process.
struct LedgerRow {
  std::string comm;
  std::uint32_t pid = 0;
  std::string mapping;
  std::optional<std::int64_t> begin, end;
  std::int64_t peak = 0;
  RssSums sums;
  bool is_checked = true;  // no size is by the changes themselves

  std::optional<std::int64_t> residual() const {
    return begin && end && is_checked ? std::optional(*end - *begin - sums.total()) : std::nullopt;
  }

  std::int64_t weight() const {
    return std::max({begin.value_or(0),
                     end.value_or(0),
                     sums.on_side(RssSide::Added),
                     sums.on_side(RssSide::Freed) + sums.on_side(RssSide::Taken)});
  }
};

// "(not known)", "(whole process)".
bool is_no_mapping(const std::string& mapping) {
  return mapping.starts_with('(');
}

// One of several parts of a row.
void add(const LedgerRow& part, LedgerRow& row) {
  const auto sum = [](const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  };
  if (!is_no_mapping(part.mapping)) {
    row.begin = sum(row.begin, part.begin);
    row.end = sum(row.end, part.end);
  }
  row.peak += part.peak;
  row.sums += part.sums;
  row.is_checked = row.is_checked && part.is_checked;
}

std::optional<std::int64_t> size_in(const std::optional<ResidentSnapshot::Parts>& parts,
                                    const std::optional<std::int64_t>& of_process,
                                    const std::string& mapping) {
  if (is_no_mapping(mapping)) {
    return std::nullopt;
  }
  if (!parts) {
    return of_process == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  const auto found = parts->mappings.find(mapping);
  return found == parts->mappings.end() ? 0 : static_cast<std::int64_t>(found->second.rss_bytes);
}

std::set<std::string> mappings_of(const LedgerProcess& process) {
  std::set<std::string> names;
  for (const auto& [name, sums] : process.mappings) {
    names.insert(name);
  }
  for (const auto* parts : {&process.first, &process.last}) {
    for (const auto& [name, sizes] : *parts ? (*parts)->mappings : decltype((*parts)->mappings)()) {
      names.insert(name);
    }
  }
  return names;
}

std::vector<LedgerRow> parts_of(const LedgerProcess& process, LedgerKeys keys) {
  LedgerRow whole{.begin = process.begin,
                  .end = process.end,
                  .peak = process.peak,
                  .sums = process.sums,
                  .is_checked = !process.is_ended || process.is_end_seen};
  if (keys.process) {
    whole.comm = process.comm;
    whole.pid = process.pid;
  }
  if (!keys.mapping) {
    return {whole};
  }
  std::vector<LedgerRow> rows;
  for (const std::string& name : mappings_of(process)) {
    LedgerRow& row = rows.emplace_back(whole);
    row.mapping = name;
    row.begin = size_in(process.first, process.begin, name);
    row.end = size_in(process.last, process.end, name);
    row.is_checked = !process.is_ended;  // the events of an end do not say from which mapping
    const auto known = process.mappings.find(name);
    row.sums = known == process.mappings.end() ? RssSums() : known->second;
  }
  std::erase_if(
      rows, [](const LedgerRow& row) { return is_no_mapping(row.mapping) && row.weight() == 0; });
  return rows;
}

std::vector<LedgerRow> rows_of(const std::vector<LedgerProcess>& processes, LedgerKeys keys) {
  std::map<std::tuple<std::uint32_t, std::string, std::string>, LedgerRow> rows;
  const auto add_part = [&rows](const LedgerRow& part) {
    const auto [row, is_new] = rows.try_emplace({part.pid, part.comm, part.mapping}, part);
    if (!is_new) {
      add(part, row->second);
    }
  };
  for (const LedgerProcess& process : processes) {
    std::ranges::for_each(parts_of(process, keys), add_part);
  }
  std::vector<LedgerRow> list;
  list.reserve(rows.size());
  for (auto& [key, row] : rows) {
    list.push_back(std::move(row));
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &LedgerRow::weight);
  return list;
}

void add_keys(LedgerKeys keys, Table& table) {
  if (keys.process) {
    table.columns.push_back({"comm", Unit::Text});
    table.columns.push_back({"pid", Unit::Number});
  }
  if (keys.mapping) {
    table.columns.push_back({"mapping", Unit::Text});
  }
  table.key_count = table.columns.size();
}

std::vector<Cell> key_cells(const LedgerRow& row, LedgerKeys keys) {
  std::vector<Cell> cells;
  if (keys.process) {
    cells.emplace_back(row.comm);
    cells.push_back(unless_zero(row.pid));
  }
  if (keys.mapping) {
    cells.emplace_back(row.mapping);
  }
  return cells;
}

// Sizes are never negative, but counters that are read apart may be.
Cell size_cell(const std::optional<std::int64_t>& bytes) {
  return bytes && *bytes >= 0 ? Cell(static_cast<std::uint64_t>(*bytes)) : when(bytes);
}

Cell share_cell(const LedgerRow& row) {
  const auto residual = row.residual();
  if (!residual || row.weight() == 0) {
    return {};
  }
  const auto size = static_cast<double>(std::max(*residual, -*residual));
  return 100 * size / static_cast<double>(row.weight());
}

// What is resident without a file and in no block that lives.
Cell free_cell(const LedgerProcess& process, const std::optional<std::uint64_t>& live) {
  if (!process.last || !live) {
    return {};
  }
  std::int64_t bytes = -static_cast<std::int64_t>(*live);
  for (const char* name : {"[heap]", "[anon]"}) {
    const auto mapping = process.last->mappings.find(name);
    bytes += mapping == process.last->mappings.end()
                 ? 0
                 : static_cast<std::int64_t>(mapping->second.rss_bytes);
  }
  return bytes;
}

class Lines {
 public:
  Lines(Table& table, std::vector<Cell> keys, bool is_counted)
      : table_(table), keys_(std::move(keys)), is_counted_(is_counted) {}

  void add(std::string_view change, Cell bytes, Cell count, std::string_view source) {
    std::vector<Cell>& cells = table_.rows.emplace_back(keys_);
    cells.emplace_back(std::string(change));
    cells.push_back(std::move(bytes));
    cells.push_back(std::move(count));
    cells.emplace_back(std::string(source));
  }

  void add_changes(const RssSums& sums) {
    for (std::size_t i = 0; i < kRssChanges; ++i) {
      const auto change = static_cast<RssChange>(i);
      if (sums.bytes(change) != 0 || sums.count(change) != 0) {
        add(kRssChangeNames.at(i).text, sums.bytes(change), sums.count(change), source(change));
      }
    }
  }

 private:
  // Without kmem:rss_stat some changes are seen in the page tables only.
  std::string_view source(RssChange change) const {
    const bool is_read = change == RssChange::Around || change == RssChange::Before ||
                         change == RssChange::Reclaimed || change == RssChange::Inherited;
    return change == RssChange::ExitUnseen || (is_read && !is_counted_) ? "difference" : "events";
  }

  Table& table_;
  std::vector<Cell> keys_;
  bool is_counted_;
};

}  // namespace

Table ledger_table(const std::vector<LedgerProcess>& processes, LedgerKeys keys, bool is_counted) {
  Table table{
      .title = keys.mapping ? "by mapping" : "by process", .sort = "added", .weight = "added"};
  add_keys(keys, table);
  for (const char* name : {"rss_begin", "added", "freed", "taken", "rss", "residual"}) {
    table.columns.push_back({name, Unit::Bytes});
  }
  if (!keys.mapping) {
    table.columns.push_back({"residual_share", Unit::Percent});
    table.columns.push_back({"peak", Unit::Bytes});
  }
  for (const LedgerRow& row : rows_of(processes, keys)) {
    std::vector<Cell>& cells = table.rows.emplace_back(key_cells(row, keys));
    cells.push_back(size_cell(row.begin));
    for (const RssSide side : {RssSide::Added, RssSide::Freed, RssSide::Taken}) {
      cells.push_back(size_cell(row.sums.on_side(side)));
    }
    cells.push_back(size_cell(row.end));
    cells.push_back(when(row.residual()));
    if (!keys.mapping) {
      cells.push_back(share_cell(row));
      cells.push_back(is_counted ? size_cell(row.peak) : Cell());
    }
  }
  return table;
}

Table changes_table(const std::vector<LedgerProcess>& processes, LedgerKeys keys, bool is_counted) {
  Table table{.title = keys.mapping ? "changes of the largest mappings"
                                    : "changes of the largest processes",
              .fixed = true};
  add_keys(keys, table);
  table.columns.push_back({"change", Unit::Text});
  table.key_count = table.columns.size();
  table.columns.push_back({"bytes", Unit::Bytes});
  table.columns.push_back({"count", Unit::Count});
  table.columns.push_back({"source", Unit::Text});
  std::vector<LedgerRow> rows = rows_of(processes, keys);
  LedgerRow others{.comm = "(others)", .mapping = "(others)", .begin = 0, .end = 0};
  for (std::size_t i = kMostRows; i < rows.size(); ++i) {
    add(rows[i], others);
  }
  if (rows.size() > kMostRows) {
    rows.resize(kMostRows);
    rows.push_back(std::move(others));
  }
  for (const LedgerRow& row : rows) {
    Lines lines(table, key_cells(row, keys), is_counted);
    lines.add("resident at the start", size_cell(row.begin), {}, "/proc");
    lines.add_changes(row.sums);
    lines.add("resident at the end", size_cell(row.end), {}, "/proc");
    lines.add("residual", when(row.residual()), {}, "difference");
  }
  return table;
}

Table beside_table(const std::vector<LedgerProcess>& processes, const HeapSizes& heap) {
  Table table{.title = "beside the resident size", .sort = "pss"};
  add_keys({}, table);
  for (const char* name :
       {"pss_begin", "pss", "swap_begin", "swap", "page_tables_begin", "page_tables"}) {
    table.columns.push_back({name, Unit::Bytes});
  }
  if (heap.any()) {
    table.columns.push_back({"heap_live", Unit::Bytes});
    table.columns.push_back({"heap_free", Unit::Bytes});
  }
  for (const LedgerProcess& process : processes) {
    if (!process.first && !process.last) {
      continue;
    }
    const auto cell = [](const std::optional<ResidentSnapshot::Parts>& parts,
                         std::uint64_t ResidentSnapshot::Parts::*member) {
      return parts ? Cell((*parts).*member) : Cell();
    };
    table.rows.push_back({process.comm,
                          std::uint64_t{process.pid},
                          cell(process.first, &ResidentSnapshot::Parts::pss_bytes),
                          cell(process.last, &ResidentSnapshot::Parts::pss_bytes),
                          when(process.first_swap),
                          when(process.last_swap),
                          cell(process.first, &ResidentSnapshot::Parts::page_table_bytes),
                          cell(process.last, &ResidentSnapshot::Parts::page_table_bytes)});
    if (heap.any()) {
      const auto live = heap.live_bytes(process.pid);
      table.rows.back().push_back(when(live));
      table.rows.back().push_back(free_cell(process, live));
    }
  }
  return table;
}

}  // namespace memtrace
