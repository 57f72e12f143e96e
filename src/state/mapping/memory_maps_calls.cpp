// What system calls do to the mappings of a process.
#include <algorithm>

#include "state/mapping/map_flags.h"
#include "state/mapping/memory_maps.h"

namespace memtrace {
namespace {

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

void MemoryMaps::note_fresh(Space& space, MemoryMap::Range range, std::uint64_t time_ns) {
  const auto unmaps = [](const Call& call) { return may_unmap(call.entry.call); };
  if (std::any_of(space.calls.begin(), space.calls.end(), unmaps)) {
    space.fresh.push_back({range, time_ns});
  }
}

void MemoryMaps::begin(const Task& task, const SystemCallEntry& entry) {
  Space& space = this->space(task.pid);
  std::erase_if(space.calls, [&](const Call& call) { return call.tid == task.tid; });
  if (is_change(entry.call)) {
    space.calls.push_back({.tid = task.tid, .time_ns = task.time_ns, .entry = entry, .record = {}});
  }
}

void MemoryMaps::end(const Task& task, const SystemCallDone& done) {
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
