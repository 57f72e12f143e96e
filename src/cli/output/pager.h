// Reports that are longer than the terminal are shown by a pager, as git and man show theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct PagerCommand {
  std::vector<std::string> words;        // [0] is the file to run; empty: no pager
  std::vector<std::string> environment;  // all of it, as NAME=VALUE
};

// Root's pager is less from the system's folder with LESSSECURE=1 (less(1), "SECURITY"), and few
// variables: PAGER and LESSOPEN name programs, and may be of the user who called sudo. For others
// PAGER is a command of the shell; an empty one or "cat" means none.
PagerCommand pager_command(bool is_root, const std::vector<std::string>& environment);

bool is_longer_than(std::string_view text, std::size_t rows);

// Waits until the user leaves the pager. False: it could not be started, nothing is shown.
bool show_in_pager(const PagerCommand& pager, std::string_view text);

}  // namespace memtrace
