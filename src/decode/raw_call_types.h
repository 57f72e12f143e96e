// System calls where the kernel has no events of its own for each: recorded by the two events that
// report all calls, and separated again for the views.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/event/event_attr.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// The calls that the raw events replace: the kernel is to pass on no others.
class RawCallFilter {
 public:
  // Needs as in ViewSpec, and what this kernel has.
  void note(std::span<const std::string_view> needs,
            const std::function<bool(std::string_view)>& exists);

  // The user named this event: it is recorded whole.
  void keep_whole(std::string_view event) { whole_.emplace(event); }

  void narrow(std::vector<EventRequest>& requests) const;

 private:
  std::set<std::uint32_t> numbers_;
  std::set<std::string, std::less<>> whole_;
};

// The kinds of events that a raw one's samples are of: "syscalls:sys_enter_mmap" and so on.
class RawCallTypes {
 public:
  // `filter`: of a recording by RawCallFilter, "" for one of all calls.
  RawCallTypes(const EventType& raw, std::string_view filter);

  // nullptr for other calls.
  const EventType* type_of(SystemCall call) const;

  // Those that the recording can hold.
  std::vector<const EventType*> recorded() const;

 private:
  std::deque<EventType> types_;  // by SystemCall
  std::vector<bool> is_recorded_;
};

}  // namespace memtrace
