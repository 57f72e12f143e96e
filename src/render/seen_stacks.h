// The stacks that a table has printed: one that differs from an earlier one only in how its program
// or thread was started is not printed whole again.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "report/report.h"

namespace memtrace {

class SeenStacks {
 public:
  struct Seen {
    std::size_t row = 0;     // the first with these frames, from 1 on
    std::size_t frames = 0;  // innermost ones that it has, too; 0: it is new
  };

  // The frames from main, or from the thread's start, outwards do not count.
  Seen look_for(const Frames& frames, std::size_t row);

 private:
  struct Printed {
    std::size_t row = 0;
    std::string outer;  // its frames from main outwards
  };

  std::unordered_map<std::string, Printed> printed_;  // by the frames inside of main
};

}  // namespace memtrace
