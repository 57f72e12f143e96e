#include "views/reclaim/flushes.h"

#include <algorithm>
#include <array>
#include <string>

#include "views/reclaim/latency.h"

namespace memtrace {
namespace {

// enum wb_reason (include/linux/backing-dev-defs.h): the first five are as they were in 3.2, but
// for the second, which was called try_to_free_pages then. Formats before TRACE_DEFINE_ENUM (4.1)
// have the enum's words in place of the numbers.
constexpr auto kReasons =
    std::to_array<std::string_view>({"background", "vmscan", "sync", "periodic", "laptop_timer"});

Cell reason_cell(std::int32_t reason, std::span<const FlagName> names) {
  if (reason < 0) {
    return {};
  }
  const auto number = static_cast<std::uint64_t>(reason);
  const bool named = std::ranges::find(names, number, &FlagName::mask) != names.end();
  return number < kReasons.size() && !named ? Cell(std::string(kReasons.at(number)))
                                            : Cell(name_of(reason, names));
}

}  // namespace

void Flushes::on(const Event& event) {
  if (const auto* round = std::get_if<FlushRound>(&event.payload)) {
    names_.learn(*event.type);
    on_round(event, *round);
  } else if (const auto* inode = std::get_if<InodeWritten>(&event.payload)) {
    if (const auto found = open_.find(event.tid); found != open_.end()) {
      found->second.written += inode->pages * event.weight;
    }
  }
}

void Flushes::on_round(const Event& event, const FlushRound& round) {
  if (round.begins) {
    open_[event.tid] = {.reason = round.reason, .begun_ns = event.time_ns};
    return;
  }
  Reason& reason = reasons_[round.reason];
  reason.rounds += event.weight;
  const auto found = open_.find(event.tid);
  if (found == open_.end()) {
    return;  // it had begun before events were recorded
  }
  if (found->second.reason == round.reason && event.time_ns >= found->second.begun_ns) {
    reason.durations.add(event.time_ns - found->second.begun_ns, event.weight);
    reason.written += found->second.written;
  }
  open_.erase(found);
}

Table Flushes::table() const {
  Table table{.title = "rounds of flusher threads, by reason",
              .columns = {{"reason", Unit::Text},
                          {"rounds", Unit::Count},
                          {"written", Unit::Count},
                          {"time_ns", Unit::Nanoseconds}},
              .key_count = 1,
              .sort = "written"};
  const std::vector<Column> latencies = latency_columns();
  table.columns.insert(table.columns.end(), latencies.begin(), latencies.end());
  for (const auto& [reason, cost] : reasons_) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.push_back(reason_cell(reason, names_.names()));
    row.emplace_back(cost.rounds);
    row.emplace_back(cost.written);
    row.emplace_back(cost.durations.total_ns());
    const std::vector<Cell> cells = latency_cells(cost.durations);
    row.insert(row.end(), cells.begin(), cells.end());
  }
  return table;
}

}  // namespace memtrace
