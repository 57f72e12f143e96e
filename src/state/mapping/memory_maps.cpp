#include "state/mapping/memory_maps.h"

#include <algorithm>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

// How many ended processes keep their mappings.
constexpr std::size_t kMaxExited = 512;

}  // namespace

// What the arguments of mmap(2) say, for a recording without records of data mappings.
MemoryArea MemoryMaps::area_of(const SystemCallArguments& arguments) {
  constexpr std::uint64_t kKept = kMapShared | kMapPrivate | kMapHugeTlb;
  const std::uint64_t flags = arguments[3];
  MemoryArea area{.kind = AreaKind::File,
                  .protection = static_cast<std::uint32_t>(arguments[2]),
                  .flags = static_cast<std::uint32_t>(flags & kKept)};
  if ((flags & kMapHugeTlb) != 0) {
    area.kind = AreaKind::HugePages;
  } else if ((flags & kMapAnonymous) != 0) {
    area.kind = (flags & kMapShared) != 0 ? AreaKind::SharedMemory : AreaKind::Anonymous;
  }
  return area;
}

MemoryMaps::Space& MemoryMaps::space(std::uint32_t pid) {
  Space& space = spaces_[pid];
  if (space.map == nullptr) {
    space.map = std::make_shared<MemoryMap>();
  }
  return space;
}

MemoryMap& MemoryMaps::own(Space& space) {
  if (space.map.use_count() > 1) {
    space.map = std::make_shared<MemoryMap>(*space.map);
  }
  space.exited = false;  // it lives, after all: its first thread has ended before others
  return *space.map;
}

// The kernel maps whole pages, whatever length it is asked for.
std::uint64_t MemoryMaps::whole_pages(std::uint64_t bytes) const {
  return (bytes + page_size_bytes_ - 1) / page_size_bytes_ * page_size_bytes_;
}

MemoryMap::Range MemoryMaps::range_of(std::uint64_t start, std::uint64_t bytes) const {
  return {start, start + whole_pages(bytes)};
}

void MemoryMaps::announce(const Record& record) {
  Space& space = this->space(record.pid);
  MemoryArea area = record.area;
  has_data_ = has_data_ || (area.protection & kProtectExecute) == 0;
  const auto call = std::find_if(space.calls.begin(), space.calls.end(), [&](const Call& one) {
    return one.tid == record.tid;
  });
  if (call != space.calls.end() && area.flags == 0 && call->entry.call == SystemCall::Mmap) {
    const MemoryArea told = area_of(call->entry.arguments);  // before MMAP2 a record does not say
    area.flags = told.flags;
    area.protection = told.protection;
  }
  // The kernel calls it a heap only from its second growth on: at the first its end has not moved
  // yet (mm/mmap.c, brk; kernel/events/core.c, perf_event_mmap_event).
  if (call != space.calls.end() && call->entry.call == SystemCall::Brk) {
    area.kind = AreaKind::Heap;
  }
  area.offset_minus_avma = area.has_offset() ? record.file_offset - record.range.start : 0;
  own(space).map(record.range, area);
  if (call == space.calls.end()) {
    return;
  }
  call->record = {record.range.start, record.range.limit, area};
  // A mapping that was merged with its neighbour is announced as a whole: the end of the call says
  // which part is new.
  const std::uint64_t bytes = whole_pages(call->entry.arguments[1]);
  const bool is_whole =
      call->entry.call == SystemCall::Mmap && record.range.limit - record.range.start == bytes;
  if (is_whole || call->entry.call == SystemCall::Shmat) {
    note_fresh(space, record.range, record.time_ns);
  }
}

void MemoryMaps::fork(std::uint32_t parent_pid, std::uint32_t pid) {
  Space child{.map = space(parent_pid).map};
  child.heap_top = space(parent_pid).heap_top;
  spaces_[pid] = std::move(child);
}

void MemoryMaps::exec(std::uint32_t pid) {
  spaces_[pid] = {};
}

void MemoryMaps::exit(std::uint32_t pid, std::uint32_t tid) {
  const auto found = spaces_.find(pid);
  if (found == spaces_.end()) {
    return;
  }
  std::erase_if(found->second.calls, [tid](const Call& call) { return call.tid == tid; });
  if (pid != tid) {
    return;
  }
  found->second.exited = true;
  exited_.push_back(pid);
  if (exited_.size() > kMaxExited) {
    const auto oldest = spaces_.find(exited_.front());
    exited_.pop_front();
    if (oldest != spaces_.end() && oldest->second.exited) {
      spaces_.erase(oldest);
    }
  }
}

void MemoryMaps::forget_calls() {
  for (auto& [pid, space] : spaces_) {
    space.calls.clear();
    space.fresh.clear();
  }
}

const MemoryMap::Entry* MemoryMaps::find(std::uint32_t pid, std::uint64_t avma) const {
  const MemoryMap* map = of(pid);
  return map == nullptr ? nullptr : map->find(avma);
}

std::uint64_t MemoryMaps::heap_top(std::uint32_t pid) const {
  const auto found = spaces_.find(pid);
  if (found == spaces_.end() || found->second.map == nullptr) {
    return 0;
  }
  const Space& space = found->second;
  return space.heap_top != 0 ? space.heap_top : space.map->heap_limit();
}

const MemoryMap* MemoryMaps::of(std::uint32_t pid) const {
  const auto found = spaces_.find(pid);
  return found == spaces_.end() ? nullptr : found->second.map.get();
}

}  // namespace memtrace
