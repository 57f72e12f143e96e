// Keys and clicks to changes of what is shown.
#pragma once

#include "cli/terminal/key.h"
#include "cli/top/state.h"

namespace memtrace {

// False: the user wants to end.
bool act(TopState& state, const Key& key);

}  // namespace memtrace
