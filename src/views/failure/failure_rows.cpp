#include "views/failure/failure_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

// "20 x mmap by dd (812)", "kill of java (812)".
std::string heading_of(const Failure& failure) {
  const bool is_kill = failure.kind == "kill";
  const std::string times = failure.count > 1 ? print_count(failure.count) + " x " : "";
  return times + failure.what + (is_kill ? " of " : " by ") +
         (failure.comm.empty() ? "process" : failure.comm) + " (" + std::to_string(failure.pid) +
         ")";
}

std::vector<Cell> cells_of(const Failure& failure, std::optional<std::uint64_t> start_ns) {
  const Reason& reason = failure.reason;
  return {heading_of(failure),
          reason.sentence,
          reason.change,
          std::string(failure.kind),
          std::string(reason.code),
          failure.what,
          failure.comm,
          std::uint64_t{failure.pid},
          failure.count,
          when(reason.asked),
          when(reason.used),
          when(reason.limit),
          when(reason.excess),
          std::string(name_of(reason.unit)),
          start_ns ? since(failure.last_ns, *start_ns) : Cell(failure.clock)};
}

}  // namespace

void FailureRows::add(Failure failure) {
  const Key key(failure.pid, failure.what, failure.reason.code);
  const auto [row, is_new] = rows_.try_emplace(key, failure);
  if (!is_new) {
    failure.count += row->second.count;
    row->second = std::move(failure);
  }
}

std::uint64_t FailureRows::count(std::string_view kind) const {
  std::uint64_t sum = 0;
  for (const auto& [key, failure] : rows_) {
    sum += failure.kind == kind ? failure.count : 0;
  }
  return sum;
}

Table FailureRows::table(std::optional<std::uint64_t> start_ns) const {
  Table table{
      .title = "why memory was refused",
      .columns = {{"subject", Unit::Text},
                  {"why", Unit::Text},
                  {"change", Unit::Text},
                  {"kind", Unit::Text},
                  {"reason", Unit::Text},
                  {"what", Unit::Text},
                  {"comm", Unit::Text},
                  {"pid", Unit::Number},
                  {"count", Unit::Count},
                  {"asked", Unit::Number},
                  {"used", Unit::Number},
                  {"limit", Unit::Number},
                  {"excess", Unit::Number},
                  {"unit", Unit::Text},
                  start_ns ? Column{"last_at_ns", Unit::Moment} : Column{"last", Unit::Text}},
      .key_count = 8,
      .fixed = true,
      .entries = true};
  std::vector<const Failure*> failures;
  for (const auto& [key, failure] : rows_) {
    failures.push_back(&failure);
  }
  std::ranges::stable_sort(failures, [](const Failure* left, const Failure* right) {
    return std::pair(left->kind == "kill", left->count) >
           std::pair(right->kind == "kill", right->count);
  });
  for (const Failure* failure : failures) {
    table.rows.push_back(cells_of(*failure, start_ns));
  }
  return table;
}

}  // namespace memtrace
