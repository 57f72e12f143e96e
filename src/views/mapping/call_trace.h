// One line for each system call, for views that list them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/view.h"

namespace memtrace {

inline constexpr ViewOption kTraceOption = {"trace", "", "also list the calls, one line each"};

struct CallStep {
  std::uint64_t time_ns = 0;  // of the exit
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId comm;
  StackId stack;
  SystemCallDone done;
  std::uint64_t file = 0;  // a word of shared_mapped_files.h
};

// Keeps the first calls of an interval, up to a limit.
class CallTrace {
 public:
  void add(const Event& event, const SystemCallDone& done, std::uint64_t file = 0);

  const std::vector<CallStep>& steps() const { return steps_; }

  // That later ones are not listed, if so.
  void add_note(Report& report) const;

  void clear();

 private:
  std::vector<CallStep> steps_;
  std::uint64_t unlisted_ = 0;
};

// The first columns of such a table, at_ns, comm, pid, tid and call, and their cells.
inline constexpr std::size_t kCallColumns = 5;
std::vector<Column> call_columns();
std::vector<Cell> call_cells(const CallStep& step, const World& world, View::Span span);

// How long it took: blank when that is not known. The clock of old kernels (sched_clock, before
// events had clocks of their own in 4.1) stands still when a tick of the timer is late, and no call
// takes no time.
Cell duration_cell(const SystemCallDone& done);
void add_clock_note(Report& report, std::uint64_t untimed_calls);

// "0x7f0000000000" for an address, the number, or the error's name.
Cell result_cell(const SystemCallDone& done);

// For a column of addresses: blank for a call that gives none.
Cell address_cell(const SystemCallDone& done);

// "syscalls:sys_exit_mmap" for mmap.
bool is_exit_of(const EventType& type, std::span<const std::string_view> calls);

}  // namespace memtrace
