#include "views/kernel/cache_names.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace memtrace {
namespace {

// The two highest bits of a key say what the others are.
enum class Form : std::uint64_t { Named, Kmalloc, Unnamed, None };

constexpr int kFormShift = 62;
constexpr std::uint64_t kLargestCacheBytes = 8192;  // SLUB hands larger ones to the page allocator
constexpr std::uint64_t kLargestSizeBytes = (1U << 30) - 1;
constexpr std::ptrdiff_t kNamesInNote = 8;
constexpr char kUnnamedMark = '?';
// In place of a call site: all objects of that size are of one cache.
constexpr std::uint64_t kAnyCallSite = 0xffffffffU;

std::uint64_t make_key(Form form, std::uint64_t bits) {
  return (static_cast<std::uint64_t>(form) << kFormShift) | bits;
}

Form form_of(std::uint64_t key) {
  return static_cast<Form>(key >> kFormShift);
}

// The size of an Unnamed key.
std::uint64_t size_in(std::uint64_t key) {
  return (key >> 32) & kLargestSizeBytes;
}

std::uint64_t kmalloc_key(std::uint64_t size_bytes) {
  return make_key(Form::Kmalloc, size_bytes > kLargestCacheBytes ? 0 : size_bytes);
}

std::uint64_t cache_key(StringId name, LocationId call_site, std::uint64_t size_bytes) {
  if (name.valid()) {
    return make_key(Form::Named, name.value);
  }
  const std::uint64_t bounded_bytes = std::min(size_bytes, kLargestSizeBytes);
  return make_key(Form::Unnamed, (bounded_bytes << 32) | call_site.value);
}

}  // namespace

// bytes_alloc is the cache's s->size, which slabinfo calls objsize (mm/slub.c, get_slabinfo and
// mm/slab_common.c, cache_show): they can be compared as they are.
CacheNames::CacheNames(const std::map<std::string, std::uint64_t>& caches) {
  for (const auto& [name, size_bytes] : caches) {
    const auto [known, is_new] = by_size_.try_emplace(size_bytes, name);
    known->second = is_new ? name : "";
    // SLAB's own names up to 3.6 (mm/slab.c, cache_names); RHEL 6 has SLAB.
    kmalloc_prefix_ = name == "size-64" ? "size-" : kmalloc_prefix_;
  }
}

std::uint64_t CacheNames::key_of(const Event& event) {
  const auto* alloc = std::get_if<SlabAlloc>(&event.payload);
  if (alloc == nullptr) {
    return make_key(Form::None, 0);
  }
  return alloc->kmalloc ? kmalloc_key(alloc->bytes_alloc)
                        : cache_key(event.cache, event.call_site, alloc->bytes_alloc);
}

std::uint64_t CacheNames::key_of(const LiveBlock& block) {
  switch (block.kind) {
    case BlockKind::Kmalloc:
      return kmalloc_key(block.bytes);
    case BlockKind::Cache:
    case BlockKind::PerCpu:
      return cache_key(block.cache, block.call_site, block.bytes);
    case BlockKind::Page:
    case BlockKind::Heap:
      break;
  }
  return make_key(Form::None, 0);
}

std::uint64_t CacheNames::key_of(StringId name) {
  return make_key(Form::Named, name.value);
}

void CacheNames::learn(const Event& free) {
  if (free.freed == nullptr || !free.cache.valid()) {
    return;
  }
  const std::uint64_t key = key_of(*free.freed);
  if (form_of(key) != Form::Unnamed) {
    return;
  }
  Learnt& learnt = learnt_[key];
  learnt.ambiguous = learnt.ambiguous || (learnt.name.valid() && learnt.name != free.cache);
  learnt.name = free.cache;
}

std::uint64_t CacheNames::resolve_late(std::uint64_t key) const {
  if (form_of(key) != Form::Unnamed) {
    return key;
  }
  if (const auto found = learnt_.find(key); found != learnt_.end()) {
    return found->second.ambiguous ? key : make_key(Form::Named, found->second.name.value);
  }
  const auto known = by_size_.find(size_in(key));
  const bool is_one = known != by_size_.end() && !known->second.empty();
  return is_one ? key | kAnyCallSite : key;
}

std::string CacheNames::name(std::uint64_t key, const World& world) const {
  const auto low_bits = static_cast<std::uint32_t>(key);
  switch (form_of(key)) {
    case Form::Named:
      return std::string(world.strings().at(StringId{low_bits}));
    case Form::Kmalloc:
      return low_bits == 0 ? "kmalloc-large"
                           : std::string(kmalloc_prefix_) + std::to_string(low_bits);
    case Form::Unnamed:
      return low_bits == kAnyCallSite ? by_size_.at(size_in(key)) + " (by size)"
                                      : "size-" + std::to_string(size_in(key)) + kUnnamedMark;
    case Form::None:
      break;
  }
  return "";
}

std::vector<std::string> CacheNames::notes(const World& world,
                                           const Table& table,
                                           std::size_t column) const {
  std::set<std::string> inferred;
  for (const auto& [key, learnt] : learnt_) {
    if (!learnt.ambiguous) {
      inferred.emplace(world.strings().at(learnt.name));
    }
  }
  std::vector<std::string> notes;
  if (!inferred.empty()) {
    const auto count = std::min(std::ssize(inferred), kNamesInNote);
    const auto limit = std::next(inferred.begin(), count);
    notes.push_back("cache names inferred from frees of objects of the same call site: " +
                    join(std::vector<std::string>(inferred.begin(), limit), ", ") +
                    (limit == inferred.end() ? "" : " and others"));
  }
  const auto is_unnamed = [column](const std::vector<Cell>& row) {
    const auto* name = std::get_if<std::string>(&row[column]);
    return name != nullptr && name->ends_with(kUnnamedMark);
  };
  if (std::ranges::any_of(table.rows, is_unnamed)) {
    notes.emplace_back(
        "size-N? are objects of N bytes whose cache no event names: --by cache,caller shows who "
        "allocates them");
  }
  return notes;
}

}  // namespace memtrace
