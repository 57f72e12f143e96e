// What the kernel was asked for when it allocated: one socket is a sock, an inode, a file and a
// dentry. Their stacks differ only above the function that a system call, a fault or a kernel
// thread begins with.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/namer.h"
#include "state/heap/live_block.h"
#include "state/world/world.h"
#include "views/kernel/cache_key.h"
#include "views/kit/keys.h"

namespace memtrace {

class LeakOrigins {
 public:
  // `namer`: null where functions have no names; each stack is then its own origin.
  explicit LeakOrigins(Namer* namer) : namer_(namer) {}

  // The stack up to the first function that is no mere way into the kernel.
  StackId origin_of(StackId stack, const World& world);

  // Pages that a slab cache takes to cut objects from.
  bool is_of_slab_cache(const LiveBlock& block, const World& world);

 private:
  enum class SlabStack : std::uint8_t { Unknown, No, Yes };
  enum class Place : std::uint8_t { Program, Entry, SlabPages, Kernel };

  Place place_of(LocationId location);

  Namer* namer_;
  std::unordered_map<LocationId, Place> places_;
  std::unordered_map<StackId, StackId> origins_;
  std::vector<SlabStack> slab_stacks_;  // by number of the stack: each page asks
};

// For the key "origin" of live blocks: views that have it hand out this context.
struct OriginContext : CacheContext {
  LeakOrigins& origins;
};

extern const KeySpec origin_key;

}  // namespace memtrace
