#include "views/heap/malloc_lines.h"

#include "views/kit/cells.h"

namespace memtrace {
namespace {

Cell shown_function(const MallocLine& call, const CellContext& context) {
  return text_of(context.world, call.function);
}

Cell shown_bytes(const MallocLine& call, const CellContext& /*context*/) {
  return call.is_free ? unless_zero(call.bytes) : Cell(call.bytes);
}

Cell shown_result(const MallocLine& call, const CellContext& /*context*/) {
  return call.is_free ? "freed" : call.failed ? "failed" : "ok";
}

Cell shown_caller(const MallocLine& call, const CellContext& /*context*/) {
  return unless_invalid(call.caller);
}

}  // namespace

MallocLine malloc_line(const Event& event) {
  return {.time_ns = event.time_ns,
          .comm = event.comm,
          .pid = event.pid,
          .tid = event.tid,
          .function = event.function,
          .caller = event.call_site,
          .stack = event.stack};
}

Table malloc_lines(EventList<MallocLine>& calls, const CellContext& context, bool has_stacks) {
  ListColumns<MallocLine> columns = {
      comm_column<MallocLine>(),
      figure<&MallocLine::pid>("pid", Unit::Number),
      figure<&MallocLine::tid>("tid", Unit::Number),
      {"function", Unit::Text, shown_function},
      {"bytes", Unit::Bytes, shown_bytes},
      figure_unless_zero<&MallocLine::address>("address", Unit::Address),
      {"result", Unit::Text, shown_result},
      {"caller", Unit::Text, shown_caller}};
  if (has_stacks) {
    columns.push_back(figure<&MallocLine::stack>("stack", Unit::Stack));
  }
  return calls.take(columns, context);
}

}  // namespace memtrace
