// Names of slab caches by a kprobe on kmem_cache_alloc(), where its tracepoint does not have them.
//
//   probe       site=A  name88=garbage  name96="dentry"  name104=""
//   tracepoint  call_site=A  bytes_alloc=192       -> "dentry", as slabinfo has a dentry of 192
//   bytes
//
// Where in struct kmem_cache the name lies depends on how the kernel was configured. No offset is
// believed: a text is a name only when the machine has a cache of that name whose objects have the
// size of what was allocated there.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tracepoints/event/event.h"

namespace memtrace {

class ProbedCaches {
 public:
  // `sizes_bytes`: by name, as /proc/slabinfo has them.
  void set_caches(std::map<std::string, std::uint64_t> sizes_bytes);

  bool has_caches() const { return !sizes_bytes_.empty(); }

  static bool is_probe(const EventType& type);

  // A sample of the probe.
  void learn(const EventType& type, std::span<const std::byte> raw);

  // "" when no probe was at the site, or two caches of that size are allocated from there. Valid as
  // long as this.
  std::string_view name_of(const SlabAlloc& alloc) const;

 private:
  std::map<std::string, std::uint64_t> sizes_bytes_;
  std::unordered_map<std::uint64_t, std::set<std::string>> by_site_;
};

}  // namespace memtrace
