// Names as reports show them: stacks with their innermost frames only, for --depth, and callers
// without the wrappers that are inlined into them. What the compiler inlined into a function counts
// with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "report/namer.h"
#include "session/allocation_wrappers.h"
#include "session/named_stacks.h"
#include "state/world/world.h"

namespace memtrace {

class ReportNamer final : public Namer {
 public:
  // Both outlive it. 0: whole stacks.
  ReportNamer(Namer& whole, const World& world, std::size_t depth)
      : whole_(whole), world_(world), depth_(depth) {}

  const Frames& stack(StackId id) override {
    if (depth_ == 0) {
      return whole_.stack(id);
    }
    return stacks_.of(id, [this, id] {
      Frames frames;
      const auto places = world_.stacks().locations(id);
      for (std::size_t i = 0; i < std::min(places.size(), depth_); ++i) {
        const Frames& inlined = whole_.location(places[i]);
        frames.insert(frames.end(), inlined.begin(), inlined.end());
      }
      return frames;
    });
  }

  const Frames& location(LocationId id) override {
    const auto [found, is_new] = locations_.try_emplace(id);
    if (is_new) {
      found->second = without_wrappers(whole_.location(id));
    }
    return found->second;
  }

  CodeFile module(ModuleId id) override { return whole_.module(id); }

 private:
  Namer& whole_;
  const World& world_;
  std::size_t depth_ = 0;
  NamedStacks stacks_;
  std::unordered_map<LocationId, Frames> locations_;
};

}  // namespace memtrace
