// Asks a dynamic loader what it would load.
#pragma once

#include <string>
#include <vector>

namespace memtrace {

// What to execute, and with what: the first word is the program.
struct Execution {
  std::string root;
  std::vector<std::string> environment;  // on top of our own
  std::vector<std::string> words;
};

// NAME=VALUE of `first` and then our own: a name that stands twice has the value of its first line.
std::vector<std::string> with_own_environment(std::vector<std::string> first);

// Its standard output; "" when it cannot be run. It is killed when it takes longer than a few
// seconds, or writes more than any list has.
std::string run_loader(const Execution& execution);

}  // namespace memtrace
