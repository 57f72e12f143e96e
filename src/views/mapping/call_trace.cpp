#include "views/mapping/call_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "views/kit/cells.h"
#include "views/mapping/call_names.h"

namespace memtrace {
namespace {

bool gives_address(SystemCall call) {
  return call == SystemCall::Mmap || call == SystemCall::Mremap || call == SystemCall::Shmat ||
         call == SystemCall::Brk;
}

}  // namespace

CallStep call_step(const Event& event, const SystemCallDone& done) {
  return {.time_ns = event.time_ns,
          .pid = event.pid,
          .tid = event.tid,
          .comm = event.comm,
          .stack = event.stack,
          .done = done};
}

std::string_view call_name(const CallStep& step) {
  return name_of(step.done.call);
}

Cell duration_cell(const CallStep& step, const CellContext& /*context*/) {
  return unless_zero(step.done.duration_ns);
}

void add_clock_note(Report& report, std::uint64_t untimed_calls) {
  if (untimed_calls > 0) {
    report.caveats.notes.push_back(
        "how long " + counted(untimed_calls, "call", "calls") +
        " took is not known: the kernel's clock did not advance during them");
  }
}

Cell result_cell(const SystemCallDone& done) {
  if (done.failed()) {
    return error_name(done.error());
  }
  if (gives_address(done.call)) {
    return fmt::format("0x{:x}", static_cast<std::uint64_t>(done.result));
  }
  return std::to_string(done.result);
}

Cell address_cell(const SystemCallDone& done) {
  if (done.failed()) {
    return error_name(done.error());
  }
  return when(gives_address(done.call), static_cast<std::uint64_t>(done.result));
}

bool is_exit_of(const EventType& type, std::span<const std::string_view> calls) {
  constexpr std::string_view kStart = "syscalls:sys_exit_";
  return type.name.starts_with(kStart) &&
         std::ranges::find(calls, std::string_view{type.name}.substr(kStart.size())) != calls.end();
}

}  // namespace memtrace
