#include "state/mapping/anonymous_memory.h"

#include <algorithm>
#include <vector>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

bool is_writable(const MapCall& call) {
  return (call.protection & kProtectWrite) != 0;
}

bool is_private_anonymous(const MapCall& call) {
  constexpr std::uint64_t kBoth = kMapPrivate | kMapAnonymous;
  return (call.flags & kBoth) == kBoth;
}

// The kernel maps whole pages, whatever length it is asked for.
std::uint64_t whole_pages(std::uint64_t bytes) {
  constexpr std::uint64_t kPageBytes = 4096;
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

void KernelMemory::apply(std::uint32_t pid, const Map& map) {
  Process& process = processes_[pid];
  const MapCall& call = map.call;
  const std::uint64_t bytes = whole_pages(call.bytes);
  switch (call.op) {
    case MapOp::Map:
      process.areas.erase(map.result, map.result + bytes);
      if (is_private_anonymous(call)) {
        process.areas.assign(
            map.result,
            map.result + bytes,
            {.usable = is_writable(call), .is_stack = (call.flags & kMapStack) != 0});
      }
      break;
    case MapOp::Unmap:
      process.areas.erase(call.address, call.address + bytes);
      break;
    case MapOp::Protect:
      protect(process, call);
      break;
    case MapOp::Remap:
      if (const auto* old = process.areas.find(call.address)) {
        const Area area = old->value;
        process.areas.erase(call.address, call.address + bytes);
        process.areas.assign(map.result, map.result + whole_pages(call.new_bytes), area);
      }
      break;
    case MapOp::Break:
      process.first_top = process.first_top == 0 ? map.result : process.first_top;
      process.top = map.result;
      break;
    case MapOp::Advise:
      break;
  }
}

// Reserved areas become usable; what was made unusable again still holds its pages.
void KernelMemory::protect(Process& process, const MapCall& call) {
  const std::uint64_t limit = call.address + whole_pages(call.bytes);
  if (!is_writable(call)) {
    return;
  }
  std::vector<IntervalMap<Area>::Entry> reserved;
  for (const auto& [start, entry] : process.areas.entries()) {
    if (entry.start < limit && entry.limit > call.address && !entry.value.usable) {
      reserved.push_back(entry);
    }
  }
  for (const auto& entry : reserved) {
    process.areas.assign(std::max(entry.start, call.address),
                         std::min(entry.limit, limit),
                         {.usable = true, .is_stack = entry.value.is_stack});
  }
}

std::map<std::uint32_t, KernelMemory::Taken> KernelMemory::taken() const {
  std::map<std::uint32_t, Taken> all;
  for (const auto& [pid, process] : processes_) {
    Taken& taken = all[pid];
    taken.brk_bytes = static_cast<std::int64_t>(process.top - process.first_top);
    for (const auto& [start, entry] : process.areas.entries()) {
      const bool counts = entry.value.usable && !entry.value.is_stack;
      taken.mapped_bytes += counts ? entry.limit - entry.start : 0;
    }
  }
  return all;
}

}  // namespace memtrace
