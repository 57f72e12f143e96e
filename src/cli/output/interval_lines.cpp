#include "cli/output/interval_lines.h"

#include <algorithm>

namespace memtrace {
namespace {

void add(Caveats& all, const Caveats& more) {
  all.lost += more.lost;
  all.late += more.late;
  all.overload += more.overload;
  all.malformed += more.malformed;
  all.cut += more.cut;
  all.unmatched += more.unmatched;
  all.unmatched_why = more.unmatched_why;
  all.notes = more.notes;  // most have figures, which grow
}

}  // namespace

Report totals_row(const Report& interval) {
  Report row;
  row.view = interval.view;
  row.start_ns = interval.start_ns;
  row.end_ns = interval.end_ns;
  row.clock = interval.clock;
  Table& table = row.tables.emplace_back();
  table.columns = {{"at_ns", Unit::Moment}};
  table.rows = {{interval.end_ns - std::min(interval.end_ns, interval.start_ns)}};
  for (const Total& total : interval.totals) {
    table.columns.push_back({total.name, total.unit});
    table.rows.front().emplace_back(total.value);
  }
  table.columns.push_back({"lost", Unit::Count});
  table.rows.front().emplace_back(interval.caveats.missing());
  return row;
}

Result<IntervalLines> IntervalLines::create(const PrintOptions& options) {
  auto printer = LinePrinter::create("--line", options);
  if (!printer.ok()) {
    return printer.take_error();
  }
  return IntervalLines(printer.take());
}

Result<> IntervalLines::print(const Report& interval) {
  caveats_ = caveats_.value_or(Caveats());
  add(*caveats_, interval.caveats);
  return printer_.print(totals_row(interval));
}

Result<> IntervalLines::end() {
  if (caveats_) {
    print_caveats(*caveats_);
  }
  return kDone;
}

}  // namespace memtrace
