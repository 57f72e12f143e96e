#include "report/resolve.h"

namespace memtrace {
namespace {

void resolve_cell(Report& report, const Cell& cell, Namer& namer) {
  if (const auto* stack = std::get_if<StackId>(&cell)) {
    if (stack->valid() && !report.stacks.contains(*stack)) {
      report.stacks.emplace(*stack, namer.stack(*stack));
    }
  } else if (const auto* location = std::get_if<LocationId>(&cell)) {
    if (location->valid() && !report.locations.contains(*location)) {
      report.locations.emplace(*location, namer.location(*location));
    }
  }
}

void resolve_table(Report& report, const Table& table, Namer& namer) {
  for (const auto& row : table.rows) {
    for (const Cell& cell : row) {
      resolve_cell(report, cell, namer);
    }
  }
}

}  // namespace

void resolve(Report& report, Namer& namer) {
  for (const Table& table : report.tables) {
    resolve_table(report, table, namer);
  }
  for (Report& nested : report.reports) {
    resolve(nested, namer);
  }
}

}  // namespace memtrace
