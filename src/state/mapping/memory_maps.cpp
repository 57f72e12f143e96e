#include "state/mapping/memory_maps.h"

#include <algorithm>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

// How many ended processes keep their mappings.
constexpr std::size_t kMaxExited = 512;

bool is_change(SystemCall call) {
  switch (call) {
    case SystemCall::Mmap:
    case SystemCall::Munmap:
    case SystemCall::Mprotect:
    case SystemCall::Mremap:
    case SystemCall::Brk:
    case SystemCall::Shmat:
    case SystemCall::Shmdt:
      return true;
    default:
      return false;
  }
}

bool may_unmap(SystemCall call) {
  return call == SystemCall::Munmap || call == SystemCall::Mremap || call == SystemCall::Shmdt ||
         call == SystemCall::Brk;
}

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
  last_found_ = {};
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
  last_found_ = {};
  Space child{.map = space(parent_pid).map};
  child.heap_top = space(parent_pid).heap_top;
  spaces_[pid] = std::move(child);
}

void MemoryMaps::exec(std::uint32_t pid) {
  last_found_ = {};
  spaces_[pid] = {};
}

void MemoryMaps::exit(std::uint32_t pid, std::uint32_t tid) {
  last_found_ = {};
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

const MemoryMap::Entry* MemoryMaps::search(std::uint32_t pid, std::uint64_t avma) const {
  const MemoryMap* map = of(pid);
  last_found_ = {pid, map == nullptr ? nullptr : map->find(avma)};
  return last_found_.entry;
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

void MemoryMaps::note_fresh(Space& space, MemoryMap::Range range, std::uint64_t time_ns) {
  const auto unmaps = [](const Call& call) { return may_unmap(call.entry.call); };
  if (std::any_of(space.calls.begin(), space.calls.end(), unmaps)) {
    space.fresh.push_back({range, time_ns});
  }
}

void MemoryMaps::begin(const Task& task, const SystemCallEntry& entry) {
  last_found_ = {};
  Space& space = this->space(task.pid);
  std::erase_if(space.calls, [&](const Call& call) { return call.tid == task.tid; });
  if (is_change(entry.call)) {
    space.calls.push_back({.tid = task.tid, .time_ns = task.time_ns, .entry = entry, .record = {}});
  }
}

void MemoryMaps::end(const Task& task, const SystemCallDone& done) {
  last_found_ = {};
  if (!is_change(done.call)) {
    return;
  }
  Space& space = this->space(task.pid);
  Call call{.tid = task.tid,
            .time_ns = task.time_ns - done.duration_ns,
            .entry = {.call = done.call, .arguments = done.arguments},
            .record = {}};
  const auto known = std::find_if(
      space.calls.begin(), space.calls.end(), [&](const Call& one) { return one.tid == task.tid; });
  if (known != space.calls.end()) {
    call = *known;
    space.calls.erase(known);
  }
  if (!done.failed()) {
    change(space, call, done, task.time_ns);
  }
  const auto unmaps = [](const Call& other) { return may_unmap(other.entry.call); };
  if (std::none_of(space.calls.begin(), space.calls.end(), unmaps)) {
    space.fresh.clear();
  }
}

void MemoryMaps::change(Space& space,
                        const Call& call,
                        const SystemCallDone& done,
                        std::uint64_t time_ns) {
  const SystemCallArguments& argument = done.arguments;
  switch (done.call) {
    case SystemCall::Mmap:
      end_mmap(space, call, done, time_ns);
      break;
    case SystemCall::Munmap:
      own(space).unmap(range_of(argument[0], argument[1]), kept_from(space, call));
      break;
    case SystemCall::Mprotect:
      if (!call.record) {
        own(space).protect(range_of(argument[0], argument[1]),
                           static_cast<std::uint32_t>(argument[2]));
      }
      break;
    case SystemCall::Mremap:
      end_mremap(space, call, done);
      break;
    case SystemCall::Brk:
      end_brk(space, call, done);
      break;
    case SystemCall::Shmdt:
      own(space).detach(argument[0]);
      break;
    default:
      break;
  }
}

std::vector<MemoryMap::Range> MemoryMaps::kept_from(const Space& space, const Call& call) {
  std::vector<MemoryMap::Range> kept;
  for (const Fresh& fresh : space.fresh) {
    if (fresh.time_ns > call.time_ns) {
      kept.push_back(fresh.range);
    }
  }
  return kept;
}

// The record has said it all, unless another thread's munmap ended in between.
void MemoryMaps::end_mmap(Space& space,
                          const Call& call,
                          const SystemCallDone& done,
                          std::uint64_t time_ns) {
  const auto start = static_cast<std::uint64_t>(done.result);
  const MemoryMap::Range range = range_of(start, done.arguments[1]);
  note_fresh(space, range, time_ns);
  const bool announced =
      call.record && call.record->start <= range.start && call.record->limit >= range.limit;
  if (announced) {
    own(space).fill(range, call.record->value);
    return;
  }
  MemoryArea area = area_of(done.arguments);
  area.offset_minus_avma = area.has_offset() ? done.arguments[5] - start : 0;
  own(space).map(range, area);
}

void MemoryMaps::end_mremap(Space& space, const Call& call, const SystemCallDone& done) {
  const SystemCallArguments& argument = done.arguments;
  const MemoryMap::Range from = range_of(argument[0], argument[1]);
  const MemoryMap::Range to = range_of(static_cast<std::uint64_t>(done.result), argument[2]);
  MemoryMap& map = own(space);
  const auto kept = kept_from(space, call);
  if (from.start == from.limit) {  // a second mapping of the same shared pages
    map.move({.from = {from.start, from.start + (to.limit - to.start)},
              .to = to,
              .keep_old = true,
              .kept = {}});
    return;
  }
  if (to.start != from.start) {
    map.move(
        {.from = from, .to = to, .keep_old = (argument[3] & kRemapKeepOld) != 0, .kept = kept});
    return;
  }
  if (to.limit < from.limit) {
    map.unmap({to.limit, from.limit}, kept);
  } else if (const auto* last = map.find(from.limit - 1)) {
    const MemoryArea area = last->value;
    map.map({from.limit, to.limit}, area);
  }
}

void MemoryMaps::end_brk(Space& space, const Call& call, const SystemCallDone& done) {
  const std::uint64_t top = whole_pages(static_cast<std::uint64_t>(done.result));
  const std::uint64_t old_top = whole_pages(space.heap_top);
  space.heap_top = static_cast<std::uint64_t>(done.result);
  if (call.record || top == old_top) {
    return;  // it has grown, as the record said, or was only asked for
  }
  if (old_top != 0 && top > old_top) {
    own(space).map({old_top, top},
                   {.kind = AreaKind::Heap,
                    .protection = static_cast<std::uint32_t>(kProtectRead | kProtectWrite),
                    .flags = static_cast<std::uint32_t>(kMapPrivate)});
  } else if (space.map->heap_limit() > top) {
    own(space).cut_heap(top);
  }
}

}  // namespace memtrace
