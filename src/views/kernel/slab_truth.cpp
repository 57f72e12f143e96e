#include "views/kernel/slab_truth.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/kit/sums.h"

namespace memtrace {
namespace {

// The end of a recording is a moment after its last event.
constexpr std::uint64_t kSlackNs = 1'000'000'000;

constexpr std::string_view kBySize = " (by size)";

constexpr auto kMachineCounters =
    std::to_array<std::string_view>({"nr_slab_reclaimable", "nr_slab_unreclaimable"});

std::uint64_t number_in(const Facts& facts, std::string_view name) {
  const std::uint64_t* number = facts.number(name);
  return number == nullptr ? 0 : *number;
}

std::int64_t change_of(const Facts& facts, const std::string& name) {
  return static_cast<std::int64_t>(number_in(facts, name) - number_in(facts, name + "_before"));
}

// The trace does not say which kind of kmalloc cache served a size, and knows it by its bytes:
// "kmalloc-1k", "kmalloc-cg-1k" and "dma-kmalloc-1k" are "kmalloc-1024". From 4.5 to 5.8 a cgroup
// has caches of its own, "dentry(12:web)" (mm/slab_common.c, memcg_create_kmem_cache).
std::string plain_name(std::string_view listed, std::uint64_t object_bytes) {
  const std::string_view name = listed.substr(0, listed.find('('));
  if (name.starts_with("kmalloc-") || name.starts_with("dma-kmalloc-")) {
    return "kmalloc-" + std::to_string(object_bytes);
  }
  return std::string(name);
}

// The part of what grew that the trace explains; blank where nothing grew.
Cell explained_cell(std::int64_t net_bytes, std::int64_t grown_bytes) {
  if (grown_bytes == 0) {
    return {};
  }
  return std::max(0.0, 100.0 * static_cast<double>(net_bytes) / static_cast<double>(grown_bytes));
}

}  // namespace

void SlabTruth::on(const Event& event) {
  if (event.type->name.starts_with("percpu:")) {
    return;  // its chunks are of vmalloc
  }
  const auto take_off = [&](const LiveBlock& block) {
    Traced& traced = traced_[CacheNames::key_of(block)];
    traced.freed += block.weight;
    traced.net_bytes -= static_cast<std::int64_t>(block.weight * block.bytes);
  };
  if (const auto* alloc = std::get_if<SlabAlloc>(&event.payload)) {
    if (alloc->ptr != 0) {
      Traced& traced = traced_[CacheNames::key_of(event)];
      traced.allocated += event.weight;
      traced.net_bytes += static_cast<std::int64_t>(event.weight * alloc->bytes_alloc);
    }
    if (event.replaced != nullptr) {
      take_off(*event.replaced);
    }
    return;
  }
  const auto* free = std::get_if<SlabFree>(&event.payload);
  if (free == nullptr || free->ptr == 0) {
    return;
  }
  if (event.freed != nullptr) {
    take_off(*event.freed);
  } else if (event.cache.valid()) {
    Traced& traced = traced_[CacheNames::key_of(event.cache)];
    traced.freed += event.weight;
    traced.freed_unsized += event.weight;
  } else {
    unnamed_frees_ += event.weight;
  }
}

void SlabTruth::count(const Observation& seen, std::uint64_t page_bytes) {
  const auto bytes = static_cast<std::int64_t>(page_bytes);
  for (const Facts& row : seen.rows) {
    const std::string* name = row.text("name");
    if (name == nullptr) {
      continue;
    }
    const std::uint64_t object_bytes = number_in(row, "objsize");
    Counted& counted = counted_[plain_name(*name, object_bytes)];
    counted.object_bytes = object_bytes;
    counted.objects += change_of(row, "objects");
    counted.bytes += change_of(row, "objects") * static_cast<std::int64_t>(object_bytes);
    counted.page_bytes += change_of(row, "pages") * bytes;
    if (const std::string* aliases = row.text("aliases")) {
      counted.aliases = *aliases;
    }
  }
  for (const std::string_view name : kMachineCounters) {
    if (seen.facts.number(name) != nullptr) {
      machine_bytes_[std::string(name)] += change_of(seen.facts, std::string(name)) * bytes;
    }
  }
}

std::map<std::string, SlabTruth::Cache> SlabTruth::caches(const CacheNames& names,
                                                          const World& world) const {
  std::map<std::string, Cache> caches;
  std::map<std::string, std::string> listed_as;  // by an alias
  for (const auto& [name, counted] : counted_) {
    caches[name].counted = counted;
    for (const std::string_view alias : split(counted.aliases, ',')) {
      listed_as[std::string(alias)] = name;
    }
  }
  for (const auto& [key, traced] : traced_) {
    std::string name = names.name(names.resolve_late(key), world);
    name = name.substr(0, name.find(kBySize));
    name = name.substr(0, name.find('('));
    const auto alias = listed_as.find(name);
    Cache& cache = caches[alias == listed_as.end() ? name : alias->second];
    cache.traced += traced;
  }
  join_unnamed(caches);
  for (auto& [name, cache] : caches) {
    Traced& traced = cache.traced;
    traced.net_bytes -=
        static_cast<std::int64_t>(traced.freed_unsized * cache.counted.object_bytes);
  }
  return caches;
}

// Takes over the caches of this size of which nothing was traced by name.
void SlabTruth::join_size(Cache& unnamed,
                          std::uint64_t bytes,
                          std::map<std::string, Cache>& caches) {
  for (auto& [name, cache] : caches) {
    const bool is_traced = cache.traced.allocated + cache.traced.freed > 0;
    if (cache.counted.object_bytes != bytes || is_traced || name.starts_with("kmalloc-")) {
      continue;
    }
    unnamed.counted.objects += cache.counted.objects;
    unnamed.counted.bytes += cache.counted.bytes;
    unnamed.counted.page_bytes += cache.counted.page_bytes;
    unnamed.counted.aliases += (unnamed.counted.aliases.empty() ? "" : ",") + name;
    cache = Cache();
  }
}

// Where no event names a cache, "size-192?" is all caches of that size.
void SlabTruth::join_unnamed(std::map<std::string, Cache>& caches) {
  constexpr std::string_view kPrefix = "size-";
  for (auto& [name, unnamed] : caches) {
    if (name.starts_with(kPrefix) && name.ends_with('?')) {
      const std::string_view size = std::string_view{name}.substr(kPrefix.size());
      join_size(unnamed, parse_number(size.substr(0, size.size() - 1)).value_or(0), caches);
    }
  }
  std::erase_if(caches, [](const auto& entry) {
    const auto& [traced, counted] = entry.second;
    return traced.allocated + traced.freed == 0 && counted.object_bytes == 0;
  });
}

Table SlabTruth::cache_table(const std::map<std::string, Cache>& caches) {
  Table table{.title = "what the trace explains, by cache",
              .columns = {{"cache", Unit::Text},
                          {"allocated"},
                          {"freed"},
                          {"net_bytes", Unit::Bytes},
                          {"grown", Unit::Bytes},
                          {"explained", Unit::Percent},
                          {"unexplained", Unit::Bytes},
                          {"slab_pages", Unit::Bytes}},
              .key_count = 1,
              .sort = "grown"};
  for (const auto& [name, cache] : caches) {
    const Traced& traced = cache.traced;
    const Counted& counted = cache.counted;
    table.rows.push_back({name,
                          traced.allocated,
                          traced.freed,
                          traced.net_bytes,
                          counted.bytes,
                          explained_cell(traced.net_bytes, counted.bytes),
                          counted.bytes - traced.net_bytes,
                          counted.page_bytes});
  }
  return table;
}

// Without rows where no cache that changed is merged with another.
Table SlabTruth::merged_table(const std::map<std::string, Cache>& caches) {
  Table table{.title = "merged caches: counted under one name",
              .columns = {{"cache", Unit::Text}, {"merged_with", Unit::Text}},
              .key_count = 2,
              .fixed = true};
  for (const auto& [name, cache] : caches) {
    if (!cache.counted.aliases.empty()) {
      table.rows.push_back({name, cache.counted.aliases});
    }
  }
  return table;
}

Table SlabTruth::machine_table(const std::map<std::string, Cache>& caches) const {
  std::int64_t net = 0;
  std::int64_t objects = 0;
  std::int64_t pages = 0;
  for (const auto& [name, cache] : caches) {
    net += cache.traced.net_bytes;
    objects += cache.counted.bytes;
    pages += cache.counted.page_bytes;
  }
  Table table{
      .title = "what the trace explains, of all caches",
      .columns = {{"growth_of", Unit::Text}, {"bytes", Unit::Bytes}, {"explained", Unit::Percent}},
      .key_count = 1,
      .fixed = true};
  const auto add = [&](std::string name, std::int64_t bytes) {
    table.rows.push_back({std::move(name), bytes, explained_cell(net, bytes)});
  };
  table.rows.push_back({std::string("objects in the trace"), net, Cell()});
  add("active objects in slabinfo", objects);
  add("pages in slabinfo", pages);
  std::int64_t machine = 0;
  for (const auto& [name, bytes] : machine_bytes_) {
    table.rows.push_back({name, bytes, Cell()});
    machine += bytes;
  }
  if (!machine_bytes_.empty()) {
    add("both in vmstat", machine);
  }
  return table;
}

void SlabTruth::write_notes(const Observation& seen) {
  if (const std::string* error = seen.facts.text("error")) {
    notes_.push_back("what slab caches hold is not known, as only root may read it: " + *error);
  }
  if (unnamed_frees_ > 0) {
    notes_.push_back(print_count(unnamed_frees_) +
                     " objects from before the recording were freed, and no event says of which "
                     "size: the net of the trace is too high by them");
  }
}

std::vector<Table> SlabTruth::take(const CacheNames& names, const World& world, View::Span span) {
  notes_.clear();
  const Observation* seen = world.observations().last("slab_counts");
  if (seen == nullptr) {
    notes_.emplace_back(
        "what slab caches hold was not read: the recording is of perf or of an older memtrace");
    return {};
  }
  if (seen->time_ns == last_ns_ || seen->time_ns > span.end_ns + kSlackNs) {
    return {};  // it is about another interval
  }
  last_ns_ = seen->time_ns;
  count(*seen, world.page_size_bytes());
  write_notes(*seen);
  const auto all = caches(names, world);
  std::vector<Table> tables;
  if (seen->facts.text("error") == nullptr) {
    tables.push_back(cache_table(all));
  }
  tables.push_back(machine_table(all));
  if (Table merged = merged_table(all); !merged.rows.empty()) {
    tables.push_back(std::move(merged));
  }
  if (!since_begin_) {
    traced_.clear();
    counted_.clear();
    machine_bytes_.clear();
    unnamed_frees_ = 0;
  }
  return tables;
}

}  // namespace memtrace
