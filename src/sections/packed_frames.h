// Frames with names in little memory: most places of a function differ in the line alone, and most
// functions of a program share the names of module and file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/interner.h"
#include "report/report.h"

namespace memtrace {

class PackedFrames {
 public:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  Range add(const Frames& frames);

  // As they were added, but for the file and the address that a report adds.
  Frames at(Range range) const;

 private:
  struct Function {
    StringId name;
    StringId module;
    StringId file;
    bool kernel = false;
    bool inlined = false;

    bool operator==(const Function&) const = default;
  };

  struct FunctionHash {
    std::size_t operator()(const Function& function) const;
  };

  struct Line {
    std::uint32_t function = 0;
    std::uint32_t line = 0;
  };

  std::uint32_t intern(const Frame& frame);

  StringTable names_;
  std::vector<Function> functions_;
  std::unordered_map<Function, std::uint32_t, FunctionHash> numbers_;
  std::vector<Line> lines_;
};

}  // namespace memtrace
