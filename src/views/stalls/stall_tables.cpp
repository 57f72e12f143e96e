#include "views/stalls/stall_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "views/kit/cells.h"
#include "views/kit/sums.h"

namespace memtrace {
namespace {

constexpr std::array<std::string_view, kStallKinds> kKindNames = {
    "direct", "cgroup", "compaction", "swapin", "throttled", "background"};

constexpr std::size_t kMostVictims = 6;  // that fit on a line, in the matrix
constexpr std::size_t kMostAggressors = 12;
constexpr double kLeastShare = 0.01;  // of all stall time, for a row of the matrix of its own

std::uint64_t rounded(double value) {
  return static_cast<std::uint64_t>(std::llround(value));
}

// Parts of a whole, the largest first.
std::vector<std::pair<KeyWords, double>> largest(const KeyedRows<double>& rows) {
  std::vector<std::pair<KeyWords, double>> sorted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sorted.emplace_back(rows.keys(i), rows.cost(i));
  }
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& row) { return row.second; });
  return sorted;
}

Cell time_cell(double time_ns) {
  return rounded(time_ns);
}

Cell share_cell(double part, double whole) {
  return whole > 0 ? Cell(100.0 * part / whole) : Cell();
}

}  // namespace

StallTables::StallTables(const StallKeys& keys,
                         const StallActors& actors,
                         const StallCauses& causes,
                         const CellContext& context)
    : keys_(keys), actors_(actors), causes_(causes), context_(context), pairs_(kMaxKeys) {
  for (const auto& [cause, time_ns] : causes_.caused()) {
    if (cause.kind != StallKind::Background) {
      pairs_[both(side_of(cause.aggressor), side_of(cause.victim), cause.kind)].time_ns += time_ns;
    }
  }
}

// The words of its keys; all of them kUnknown for nobody.
KeyWords StallTables::side_of(std::uint32_t actor) const {
  if (actor == StallCauses::kNobody) {
    KeyWords unknown;
    std::fill_n(unknown.words.begin(), keys_.sides.size(), kUnknown);
    return unknown;
  }
  return keys_.sides.resolve_late(actors_.at(actor).keys, context_);
}

KeyWords StallTables::both(const KeyWords& aggressor,
                           const KeyWords& victim,
                           StallKind kind) const {
  const auto size = static_cast<std::ptrdiff_t>(keys_.sides.size());
  KeyWords words = aggressor;
  std::copy_n(victim.words.begin(), size, words.words.begin() + size);
  if (keys_.has_kind) {
    words.words[2 * keys_.sides.size()] = static_cast<std::uint64_t>(kind);
  }
  return words;
}

KeyWords StallTables::part(const KeyWords& words, std::size_t first) const {
  KeyWords side;
  for (std::size_t i = 0; i < keys_.sides.size(); ++i) {
    side.words[i] = words.words[first + i];
  }
  return side;
}

void StallTables::add_cells(const KeyWords& side, std::vector<Cell>& row) const {
  if (side.words[0] == kUnknown) {
    row.resize(row.size() + keys_.sides.size());
    return;
  }
  std::ranges::move(keys_.sides.cells(side, context_), std::back_inserter(row));
}

// "aggressor" for one key, "aggressor_comm" and "aggressor_cgroup" for two.
void StallTables::add_columns(const char* side, Table& table) const {
  for (const Column& key : keys_.sides.columns()) {
    const std::string name = keys_.sides.size() == 1 ? side : std::string(side) + "_" + key.name;
    table.columns.push_back({name, key.unit});
  }
  table.key_count = table.columns.size();
}

Table StallTables::causes() const {
  Table table{.title = "who caused whose stalls", .sort = "time_ns", .weight = "time_ns"};
  add_columns("aggressor", table);
  add_columns("victim", table);
  if (keys_.has_kind) {
    table.columns.push_back({"kind", Unit::Text});
    ++table.key_count;
  }
  table.columns.push_back({"time_ns", Unit::Nanoseconds});
  table.columns.push_back({"of_victim", Unit::Percent});
  const std::size_t size = keys_.sides.size();
  KeyedRows<double> by_victim(size);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    by_victim[part(pairs_.keys(i), size)] += pairs_.cost(i).time_ns;
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const KeyWords words = pairs_.keys(i);
    std::vector<Cell>& row = table.rows.emplace_back();
    add_cells(part(words, 0), row);
    add_cells(part(words, size), row);
    if (keys_.has_kind) {
      row.push_back(cell_of(kKindNames.at(words.words[2 * size])));
    }
    row.push_back(time_cell(pairs_.cost(i).time_ns));
    row.push_back(share_cell(pairs_.cost(i).time_ns, by_victim[part(words, size)]));
  }
  return table;
}

KeyedRows<StallTables::Waits> StallTables::waits(const std::vector<VictimUse>& uses) const {
  KeyedRows<Waits> rows(keys_.sides.size());
  for (const auto& [cause, time_ns] : causes_.caused()) {
    if (cause.kind != StallKind::Background) {
      rows[side_of(cause.victim)].by_kind.at(static_cast<std::size_t>(cause.kind)) += time_ns;
    }
  }
  for (std::uint32_t actor = 0; actor < uses.size(); ++actor) {
    if (uses[actor].stalls > 0) {
      VictimUse& use = rows[side_of(actor)].use;
      use.stalls += uses[actor].stalls;
      use.longest_ns = std::max(use.longest_ns, uses[actor].longest_ns);
    }
  }
  return rows;
}

Table StallTables::victims(const std::vector<VictimUse>& uses) const {
  Table table{.title = "what victims waited for", .sort = "time_ns", .weight = "time_ns"};
  add_columns("victim", table);
  table.columns.push_back({"stalls"});
  table.columns.push_back({"time_ns", Unit::Nanoseconds});
  table.columns.push_back({"max_ns", Unit::Nanoseconds});
  constexpr std::size_t kWaits = kStallKinds - 1;  // without Background
  for (std::size_t kind = 0; kind < kWaits; ++kind) {
    table.columns.push_back({std::string(kKindNames.at(kind)) + "_ns", Unit::Nanoseconds});
  }
  const KeyedRows<Waits> rows = waits(uses);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [use, by_kind] = rows.cost(i);
    std::vector<Cell>& row = table.rows.emplace_back();
    add_cells(rows.keys(i), row);
    row.emplace_back(use.stalls);
    row.push_back(time_cell(std::accumulate(by_kind.begin(), by_kind.end(), 0.0)));
    row.emplace_back(use.longest_ns);
    for (std::size_t kind = 0; kind < kWaits; ++kind) {
      row.push_back(time_cell(by_kind.at(kind)));
    }
  }
  return table;
}

KeyedRows<StallTables::Deeds> StallTables::deeds(const std::vector<ActorUse>& uses) const {
  KeyedRows<Deeds> rows(keys_.sides.size());
  for (const auto& [cause, time_ns] : causes_.caused()) {
    const KeyWords aggressor = side_of(cause.aggressor);
    Deeds& deeds = rows[aggressor];
    if (cause.kind == StallKind::Background) {
      deeds.background_ns += time_ns;
      continue;
    }
    deeds.caused_ns += time_ns;
    deeds.others_ns += aggressor == side_of(cause.victim) ? 0 : time_ns;
  }
  for (std::uint32_t actor = 0; actor < uses.size(); ++actor) {
    const ActorUse& use = uses[actor];
    if (use.allocated + use.dirtied > 0) {
      rows[side_of(actor)].use += use;
    }
  }
  for (const auto& [actor, pages] : causes_.evicted()) {
    rows[side_of(actor)].evicted_pages += pages;
  }
  return rows;
}

Table StallTables::aggressors(const std::vector<ActorUse>& uses) const {
  Table table{.title = "what aggressors did", .sort = "caused_ns", .weight = "caused_ns"};
  add_columns("aggressor", table);
  for (const char* column : {"caused_ns", "others_ns", "background_ns"}) {
    table.columns.push_back({column, Unit::Nanoseconds});
  }
  for (const char* column : {"allocated", "given_back", "dirtied", "evicted"}) {
    table.columns.push_back({column, Unit::Bytes});
  }
  const std::uint64_t page_bytes = context_.world.page_size_bytes();
  const KeyedRows<Deeds> rows = deeds(uses);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Deeds& deeds = rows.cost(i);
    if (deeds.caused_ns + deeds.background_ns <= 0) {
      continue;  // it allocated, and nobody waited
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    add_cells(rows.keys(i), row);
    for (const double time_ns : {deeds.caused_ns, deeds.others_ns, deeds.background_ns}) {
      row.push_back(time_cell(time_ns));
    }
    const ActorUse& use = deeds.use;
    for (const std::uint64_t pages :
         {use.allocated, use.given_back, use.dirtied, rounded(deeds.evicted_pages)}) {
      row.emplace_back(pages * page_bytes);
    }
  }
  return table;
}

// Without rows where they are too many to be read.
Table StallTables::matrix() const {
  Table table{.title = "stall time: aggressors down, victims across", .fixed = true};
  if (keys_.sides.size() != 1) {
    return table;
  }
  KeyedRows<double> by_aggressor(1);
  KeyedRows<double> by_victim(1);
  KeyedRows<double> by_both(2);
  double sum = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const KeyWords words = pairs_.keys(i);
    const double time_ns = pairs_.cost(i).time_ns;
    by_aggressor[part(words, 0)] += time_ns;
    by_victim[part(words, 1)] += time_ns;
    by_both[words] += time_ns;
    sum += time_ns;
  }
  const auto victims = largest(by_victim);
  auto aggressors = largest(by_aggressor);
  std::erase_if(aggressors, [sum](const auto& row) { return row.second < sum * kLeastShare; });
  if (victims.size() < 2 || victims.size() > kMostVictims || aggressors.size() > kMostAggressors) {
    return table;
  }
  add_columns("aggressor", table);
  for (const auto& [victim, victim_ns] : victims) {
    table.columns.push_back({column_name(victim), Unit::Nanoseconds});
  }
  for (const auto& [aggressor, aggressor_ns] : aggressors) {
    std::vector<Cell>& row = table.rows.emplace_back();
    add_cells(aggressor, row);
    for (const auto& [victim, victim_ns] : victims) {
      row.push_back(time_cell(by_both[both(aggressor, victim, StallKind::Direct)]));
    }
  }
  return table;
}

std::string StallTables::column_name(const KeyWords& victim) const {
  const Cell name = keys_.sides.cells(victim, context_).front();
  if (const auto* text = std::get_if<std::string>(&name)) {
    return *text;
  }
  const auto* number = std::get_if<std::uint64_t>(&name);
  return number != nullptr ? std::to_string(*number) : "?";
}

}  // namespace memtrace
