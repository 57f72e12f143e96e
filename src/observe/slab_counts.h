// How many objects each slab cache holds and how many pages it has: /proc/slabinfo, which root
// alone may read, beside what /proc/vmstat counts for all caches together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "state/world/observations.h"

namespace memtrace {

class SlabCounts {
 public:
  // `proc` is /proc; /sys is found beside it.
  explicit SlabCounts(std::string proc) : proc_(std::move(proc)) {}

  // Reads all counts: changes count from here on.
  void begin();

  bool has_begun() const { return has_begun_; }

  // Rows of the caches that have changed since begin() or the last call: name, objsize, and how
  // many active objects and pages they had then and have now (objects_before, objects,
  // pages_before, pages); aliases, the names of caches that are merged with it (mm/slab_common.c,
  // find_mergeable). Facts: nr_slab_reclaimable and nr_slab_unreclaimable in pages, then and now.
  // Without rows and with the fact error when slabinfo cannot be read.
  Observation take();

 private:
  struct Count {
    std::uint64_t object_bytes = 0;
    std::uint64_t objects = 0;
    std::uint64_t pages = 0;
  };

  struct Counts {
    std::map<std::string, Count> caches;
    std::map<std::string, std::uint64_t> machine;  // of vmstat
  };

  Counts read();
  static std::map<std::string, Count> parse(std::string_view slabinfo);
  void read_aliases(const Counts& counts);

  std::string proc_;
  bool has_begun_ = false;
  std::string error_;  // "" when slabinfo was read
  Counts before_;
  std::map<std::string, std::string> aliases_;  // by the name that slabinfo has
};

}  // namespace memtrace
