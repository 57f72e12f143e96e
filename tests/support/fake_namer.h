// A Namer over maps that counts how often it is asked.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <unordered_map>

#include "report/namer.h"

namespace memtrace::test {

inline Frames frames(std::initializer_list<std::string> functions) {
  Frames named;
  for (const std::string& function : functions) {
    named.push_back({.function = function});
  }
  return named;
}

class FakeNamer final : public Namer {
 public:
  const Frames& stack(StackId id) override {
    ++stacks_asked;
    return stacks[id];
  }

  const Frames& location(LocationId id) override {
    ++locations_asked;
    return locations[id];
  }

  CodeFile module(ModuleId id) override { return modules[id]; }

  std::unordered_map<ModuleId, CodeFile> modules;
  std::unordered_map<StackId, Frames> stacks;
  std::unordered_map<LocationId, Frames> locations;
  std::size_t stacks_asked = 0;
  std::size_t locations_asked = 0;
};

}  // namespace memtrace::test
