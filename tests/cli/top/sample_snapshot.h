// An interval as the panes get it: three slab caches, two stacks, and three processes.
#pragma once

#include <string>

#include "cli/top/pane_table.h"
#include "cli/top/process_table.h"
#include "support/fake_namer.h"

namespace memtrace::test {

inline Cell number_cell(std::uint64_t value) {
  return value;
}

inline Table slab_table(const std::string& key, Unit unit) {
  return {.columns = {{key, unit},
                      {"allocs", Unit::Count},
                      {"frees", Unit::Count},
                      {"bytes", Unit::Bytes},
                      {"live_objects", Unit::Count},
                      {"live_bytes", Unit::Bytes}},
          .key_count = 1,
          .sort = "bytes"};
}

inline std::vector<Cell> slab_row(Cell key, std::uint64_t allocs, std::uint64_t live_bytes) {
  return {std::move(key),
          allocs,
          number_cell(1),
          number_cell(allocs * 1024),
          number_cell(2),
          number_cell(live_bytes)};
}

// Of two seconds. The caches are dentry, filp and, with a name that would clear the screen, evil.
inline TopSnapshot sample_snapshot() {
  constexpr std::size_t kSlabByStack = 3;
  constexpr std::size_t kSlabByCache = 6;
  TopSnapshot snapshot{.clock = "14:03:59", .seconds = 2.0};
  snapshot.reports.resize(pane_queries(true).size());
  Table caches = slab_table("cache", Unit::Text);
  caches.rows = {slab_row("dentry", 10, 100),
                 slab_row("filp", 2000, 50),
                 slab_row("evil\x1b[2J", 500, 70'000)};
  snapshot.reports[kSlabByCache].tables = {caches};
  Table stacks = slab_table("stack", Unit::Stack);
  stacks.rows = {slab_row(StackId{1}, 10, 100), slab_row(StackId{2}, 20, 50)};
  snapshot.reports[kSlabByStack].tables = {stacks};
  snapshot.processes =
      process_table({}, {{1, "init", 4096}, {20, "bash", 8192}, {300, "redis", 1}});
  return snapshot;
}

inline void name_stacks(FakeNamer& namer) {
  namer.stacks[StackId{1}] = frames({"kmem_cache_alloc", "d_alloc", "path_openat"});
  namer.stacks[StackId{2}] = frames({"__kmalloc", "load_elf_binary"});
}

}  // namespace memtrace::test
