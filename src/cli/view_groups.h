// Views by name, by an alias, or by a word for several of them, as record --for takes them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct ChosenViews {
  std::vector<std::string> named;
  std::vector<std::string> if_possible;  // of "all" and "kernel": those whose events exist

  std::vector<std::string> all() const;
};

// Error: Usage, an unknown name.
Result<ChosenViews> choose_views(const std::vector<std::string>& words);

}  // namespace memtrace
