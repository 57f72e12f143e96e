// Options and commands of other tools that memtrace does not have: what to give in their place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// The error as it is, or, when it is of an option that users of this command know from another
// tool, with the hint that says how it is spelled here.
Error with_own_spelling(std::string_view command, Error error);

// What there is in place of another tool's command: "script", "stat"; "" when nothing is known.
std::string_view instead_of_command(std::string_view name);

}  // namespace memtrace
