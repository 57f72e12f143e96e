// One line for each system call, for views that list them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "tracepoints/event/event.h"
#include "views/kit/event_list.h"
#include "views/view.h"

namespace memtrace {

inline constexpr ViewOption kTraceOption = {
    "trace", "", "print a line for each call as it happens, in place of the report"};

// A call, as it is listed; what a view lists besides is in what it derives from this.
struct CallStep {
  std::uint64_t time_ns = 0;  // of the exit
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId comm;
  StackId stack;
  SystemCallDone done;
};

CallStep call_step(const Event& event, const SystemCallDone& done);

// The first columns of a list of calls, behind at_ns: comm, pid, tid and call, and then those of
// the view. With stacks: the stack, last.
inline constexpr std::size_t kCallKeys = 5;

std::string_view call_name(const CallStep& step);

template <typename Step>
ListColumns<Step> call_columns(ListColumns<Step> own, bool has_stacks = false) {
  ListColumns<Step> columns = {comm_column<Step>(),
                               figure<&CallStep::pid>("pid", Unit::Number),
                               figure<&CallStep::tid>("tid", Unit::Number),
                               figure<call_name>("call", Unit::Text)};
  columns.insert(columns.end(), own.begin(), own.end());
  if (has_stacks) {
    columns.push_back(figure<&CallStep::stack>("stack", Unit::Stack));
  }
  return columns;
}

// How long it took: blank when that is not known. The clock of old kernels (sched_clock, before
// events had clocks of their own in 4.1) stands still when a tick of the timer is late, and no call
// takes no time.
Cell duration_cell(const CallStep& step, const CellContext& context);
void add_clock_note(Report& report, std::uint64_t untimed_calls);

// "0x7f0000000000" for an address, the number, or the error's name.
Cell result_cell(const SystemCallDone& done);

// For a column of addresses: blank for a call that gives none.
Cell address_cell(const SystemCallDone& done);

// "syscalls:sys_exit_mmap" for mmap.
bool is_exit_of(const EventType& type, std::span<const std::string_view> calls);

}  // namespace memtrace
