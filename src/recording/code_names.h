// What only the machine that recorded can say of code: build ids of the files that addresses were
// seen in, and the names of these addresses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perf/record/recording.h"
#include "state/world/world.h"

namespace memtrace {

struct CodeNames {
  std::vector<BuildIdEntry> build_ids;
  std::string symbols_json;        // "" without `embed_symbols`
  std::vector<std::string> notes;  // what has no name, and why
};

// `is_over` is asked before each file: once it says so, the others are left out.
CodeNames code_names(const World& world,
                     const Recording& recording,
                     bool embed_symbols,
                     const std::function<bool()>& is_over);

}  // namespace memtrace
