#include "report/resolve.h"

namespace memtrace {
namespace {

void resolve_modules(Report& report, const Frames& frames, Namer& namer) {
  for (const Frame& frame : frames) {
    if (frame.file_id.valid() && !report.modules.contains(frame.file_id)) {
      report.modules.emplace(frame.file_id, namer.module(frame.file_id));
    }
  }
}

void resolve_cell(Report& report, const Cell& cell, Namer& namer) {
  if (const auto* stack = std::get_if<StackId>(&cell)) {
    if (stack->valid() && !report.stacks.contains(*stack)) {
      resolve_modules(
          report, report.stacks.emplace(*stack, namer.stack(*stack)).first->second, namer);
    }
  } else if (const auto* location = std::get_if<LocationId>(&cell)) {
    if (location->valid() && !report.locations.contains(*location)) {
      resolve_modules(report,
                      report.locations.emplace(*location, namer.location(*location)).first->second,
                      namer);
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
