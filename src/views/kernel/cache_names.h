// The slab cache of an object, also where the allocation's event does not name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "report/report.h"
#include "state/heap/live_block.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// kmem_cache_alloc has a name field only in kernels after 6.12, kmem_cache_free since 5.14 (RHEL
// 8.6). In between a name is learnt when an object is freed, and holds for all objects of that size
// from the same call site. Where no event names a cache, the machine's own list may: a size that
// only one cache has identifies it.
//
//   kmem_cache_alloc  call_site=__d_alloc  192 bytes  ptr=A      -> key "192 bytes of __d_alloc"
//   kmem_cache_free   ptr=A  name=dentry                         -> __d_alloc, 192 bytes: dentry
class CacheNames {
 public:
  // `caches`: bytes of an object by name, as /proc/slabinfo has them; may be empty.
  explicit CacheNames(const std::map<std::string, std::uint64_t>& caches = {});

  // A cache as a key word. kmalloc's caches are known by the objects' size.
  static std::uint64_t key_of(const Event& event);
  static std::uint64_t key_of(const LiveBlock& block);
  static std::uint64_t key_of(StringId name);

  // For each free of a block that is known.
  void learn(const Event& free);

  // The word of the named cache when the name has been learnt, or that of a cache that is known by
  // its size; else `key`.
  std::uint64_t resolve_late(std::uint64_t key) const;

  // "dentry"; "kmalloc-64", or "size-64" where the machine calls it so; "kmalloc-large"; "dentry
  // (by size)"; "size-192?" when there is no name; "" for no slab.
  std::string name(std::uint64_t key, const World& world) const;

  // Notes for a table about the names in its column `column` that no allocation event gave.
  std::vector<std::string> notes(const World& world, const Table& table, std::size_t column) const;

 private:
  struct Learnt {
    StringId name;
    bool ambiguous = false;  // the call site serves several caches of one size (mempools do)
  };

  HashMap<std::uint64_t, Learnt> learnt_;
  std::string_view kmalloc_prefix_ = "kmalloc-";
  std::map<std::uint64_t, std::string> by_size_;  // "" where several caches have that size
};

}  // namespace memtrace
