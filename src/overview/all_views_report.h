// All that a recording holds: each event with its count, and each view's rows.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "session/session.h"

namespace memtrace {

// Of each view's tables: the first ones, for people, or those that options.arrange says; the latter
// by whole stacks, too, where a view's default key is a part of them.
enum class ShownRows : std::uint8_t { First, AsAsked, ByWholeStacks };

// options.views is filled in here.
Result<Report> make_all_views_report(RecordSource& source,
                                     SessionOptions options,
                                     ShownRows rows = ShownRows::First);

}  // namespace memtrace
