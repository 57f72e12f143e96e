// Chooses among equivalent events on this machine: kernels renamed, merged and dropped tracepoints,
// so a view names alternatives and the first that exists is taken.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

// `needs` as in ViewSpec::needs: "a:b|c:d" the first that exists, "a:b|" may be missing, "a:*" if
// any exists. The result holds each event once, in the order of the needs; patterns stay patterns.
// Software events exist everywhere and come with their full names; `exists` is asked for the rest.
// The last alternative to the event of a system call is the one that reports all calls by number.
// Error: names every need that nothing satisfies.
Result<std::vector<std::string>> choose_events(std::span<const std::string_view> needs,
                                               const std::function<bool(std::string_view)>& exists);

// Whether the need that this alternative belongs to ends in '|'.
bool may_be_missing(std::span<const std::string_view> needs, std::string_view alternative);

// One need and what becomes of it here.
struct NeedState {
  std::string_view need;
  std::string wanted;      // its first alternative
  std::string chosen;      // the first that exists; "" when none does
  std::string stands_for;  // the alternative that it is, or that it replaces by its content
  bool may_be_missing = false;
};

std::vector<NeedState> examine_needs(std::span<const std::string_view> needs,
                                     const std::function<bool(std::string_view)>& exists);

}  // namespace memtrace
