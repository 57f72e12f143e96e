#include "views/mapping/call_trace.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/kit/cells.h"
#include "views/mapping/call_names.h"

namespace memtrace {
namespace {

constexpr std::size_t kMaxSteps = 10'000;

bool gives_address(SystemCall call) {
  return call == SystemCall::Mmap || call == SystemCall::Mremap || call == SystemCall::Shmat ||
         call == SystemCall::Brk;
}

}  // namespace

void CallTrace::add(const Event& event, const SystemCallDone& done, std::uint64_t file) {
  if (steps_.size() >= kMaxSteps) {
    ++unlisted_;
    return;
  }
  steps_.push_back({.time_ns = event.time_ns,
                    .pid = event.pid,
                    .tid = event.tid,
                    .comm = event.comm,
                    .stack = event.stack,
                    .done = done,
                    .file = file});
}

void CallTrace::add_note(Report& report) const {
  if (unlisted_ > 0) {
    report.caveats.notes.push_back(format("%llu later calls are counted but not listed",
                                          static_cast<unsigned long long>(unlisted_)));
  }
}

void CallTrace::clear() {
  steps_.clear();
  unlisted_ = 0;
}

std::vector<Column> call_columns() {
  return {{"at_ns", Unit::Nanoseconds},
          {"comm", Unit::Text},
          {"pid", Unit::Number},
          {"tid", Unit::Number},
          {"call", Unit::Text}};
}

std::vector<Cell> call_cells(const CallStep& step, const World& world, View::Span span) {
  return {since(step.time_ns, span.start_ns),
          cell_of(world.strings().at(step.comm)),
          std::uint64_t{step.pid},
          std::uint64_t{step.tid},
          std::string(name_of(step.done.call))};
}

Cell duration_cell(const SystemCallDone& done) {
  return unless_zero(done.duration_ns);
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
    return format("0x%llx", static_cast<unsigned long long>(done.result));
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
         std::ranges::find(calls, std::string_view(type.name).substr(kStart.size())) != calls.end();
}

}  // namespace memtrace
