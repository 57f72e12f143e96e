#include "decode/probed_caches.h"

#include <utility>

#include "tracepoints/probe/kernel_functions.h"
#include "tracepoints/probe/uprobe_names.h"

namespace memtrace {

void ProbedCaches::set_caches(std::map<std::string, std::uint64_t> sizes_bytes) {
  sizes_bytes_ = std::move(sizes_bytes);
}

bool ProbedCaches::is_probe(const EventType& type) {
  return is_kernel_probe_name(type.name) && type.format.find(kProbedSite) != nullptr;
}

void ProbedCaches::learn(const EventType& type, std::span<const std::byte> raw) {
  const std::uint64_t site = type.format.find(kProbedSite)->number(raw);
  for (const Field& field : type.format.fields) {
    if (!field.name.starts_with(kProbedNamePrefix)) {
      continue;
    }
    const std::string_view text = field.text(raw);
    if (const auto cache = sizes_bytes_.find(std::string(text)); cache != sizes_bytes_.end()) {
      by_site_[site].insert(cache->first);
    }
  }
}

std::string_view ProbedCaches::name_of(const SlabAlloc& alloc) const {
  const auto names = by_site_.find(alloc.call_site);
  if (names == by_site_.end()) {
    return "";
  }
  std::string_view found;
  for (const std::string& name : names->second) {
    if (sizes_bytes_.at(name) != alloc.bytes_alloc) {
      continue;
    }
    if (!found.empty()) {
      return "";
    }
    found = name;
  }
  return found;
}

}  // namespace memtrace
