// How much of what slab caches grew by the trace explains: the net of allocations and frees that it
// saw, beside what /proc/slabinfo and /proc/vmstat counted over the same time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "report/report.h"
#include "state/world/observations.h"
#include "views/kernel/cache_names.h"
#include "views/kit/cells.h"
#include "views/view.h"

namespace memtrace {

inline constexpr ViewOption kTruthOption = {
    "truth", "", "also compare with /proc/slabinfo and /proc/vmstat over the same time"};

class SlabTruth {
 public:
  // `since_begin`: figures of all intervals so far, as the rows of a view of what is live now.
  explicit SlabTruth(bool since_begin) : since_begin_(since_begin) {}

  // Each event of a slab object. Objects from before the recording count, too, when their free
  // names the cache.
  void on(const Event& event);

  // Tables: by cache, of all caches together, and which are merged. None when /proc was not read
  // since the last report.
  std::vector<Table> take(const CacheNames& names, const World& world, View::Span span);

  // About what take() returned.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // What the trace saw of a cache.
  struct Traced {
    std::uint64_t allocated = 0;
    std::uint64_t freed = 0;
    std::int64_t net_bytes = 0;       // of objects whose size is known
    std::uint64_t freed_unsized = 0;  // among those freed
  };

  // What /proc/slabinfo counted.
  struct Counted {
    std::int64_t objects = 0;
    std::int64_t bytes = 0;
    std::int64_t page_bytes = 0;
    std::uint64_t object_bytes = 0;
    std::string aliases;
  };

  struct Cache {
    Traced traced;
    Counted counted;
  };

  void count(const Observation& seen, std::uint64_t page_bytes);
  std::map<std::string, Cache> caches(const CacheNames& names, const World& world) const;
  static void join_unnamed(std::map<std::string, Cache>& caches);
  static void join_size(Cache& unnamed, std::uint64_t bytes, std::map<std::string, Cache>& caches);
  static Table cache_table(const std::map<std::string, Cache>& caches);
  static Table merged_table(const std::map<std::string, Cache>& caches);
  Table machine_table(const std::map<std::string, Cache>& caches) const;
  void write_notes(const Observation& seen);

  bool since_begin_;
  HashMap<std::uint64_t, Traced> traced_;  // by CacheNames' key
  std::map<std::string, Counted> counted_;
  std::map<std::string, std::int64_t> machine_bytes_;  // by vmstat's name
  std::uint64_t unnamed_frees_ = 0;  // of objects from before the recording, of no known cache
  std::uint64_t last_ns_ = 0;        // when the /proc that was shown last was read
  std::vector<std::string> notes_;
};

}  // namespace memtrace
