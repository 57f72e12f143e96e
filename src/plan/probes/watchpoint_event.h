// -e mem:ADDRESS[/BYTES][:ACCESS] as perf writes it: a hardware breakpoint on data or code
// (perf_event_open(2), PERF_TYPE_BREAKPOINT).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"

namespace memtrace {

bool is_watchpoint_event(std::string_view event);

// ADDRESS is a number, or a symbol of the kernel, looked up in the text of /proc/kallsyms. 4 bytes
// and "rw" when not said; of code ("x") the size of a long, which is what the kernel takes.
// Error: Usage, or that the kernel hides its addresses.
Result<Watchpoint> parse_watchpoint_event(std::string_view event, const std::string& kallsyms_path);

// The event to be opened: a list of one.
Result<std::vector<EventRequest>> watchpoint_request(const std::string& event,
                                                     std::uint64_t period);

// As perf record takes it.
std::string perf_text(const Watchpoint& watchpoint);

}  // namespace memtrace
