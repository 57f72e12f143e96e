#include "recording/carried_state.h"

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

// The reader recognizes the kind of memory by this name (area_kind()). A mapping that is known from
// its system call alone has no name.
std::string_view name_for(const MemoryArea& area, std::string_view path) {
  if (!path.empty()) {
    return path;
  }
  switch (area.kind) {
    case AreaKind::Heap:
      return "[heap]";
    case AreaKind::Stack:
      return "[stack]";
    case AreaKind::SharedMemory:
      return "/dev/zero";
    default:
      return "//anon";
  }
}

}  // namespace

CarriedState::CarriedState(RecordBuilder builder,
                           const World& world,
                           const std::optional<Mmap>& kernel,
                           std::uint64_t time_ns)
    : world_(world), records_(std::move(builder)) {
  records_.set_time(time_ns);
  if (kernel) {
    records_.mmap(*kernel);
    ++count_;
  }
  for (const auto& [pid, threads] : world.processes().running()) {
    add_process(pid, threads);
  }
}

void CarriedState::add_process(std::uint32_t pid, const ProcessTable::ThreadNames& threads) {
  const auto name = [this, pid](std::uint32_t tid, StringId comm) {
    if (comm.valid()) {
      records_.comm(pid, tid, world_.strings().at(comm));
      ++count_;
    }
  };
  // The process's own name first: its threads may have others.
  if (const Process* process = world_.processes().find(pid); process != nullptr) {
    name(pid, process->comm);
  }
  for (const auto& [tid, comm] : threads) {
    if (tid != pid) {
      name(tid, comm);
    }
  }
  if (const MemoryMap* map = world_.memory_maps().of(pid)) {
    for (const auto& [start, mapping] : map->areas().entries()) {
      add_mapping(pid, mapping);
    }
  }
}

void CarriedState::add_mapping(std::uint32_t pid, const MemoryMap::Entry& mapping) {
  const MemoryArea& area = mapping.value;
  records_.mmap({.pid = pid,
                 .tid = pid,
                 .start = mapping.start,
                 .length_bytes = mapping.limit - mapping.start,
                 .file_offset = area.has_offset() ? mapping.start + area.offset_minus_avma : 0,
                 .major = area.major,
                 .minor = area.minor,
                 .inode = area.inode,
                 .prot = area.protection,
                 .flags = area.flags,
                 .executable = (area.protection & kProtectExecute) != 0,
                 .mode = CpuMode::User,
                 .path = name_for(area, world_.strings().at(area.path))});
  ++count_;
}

}  // namespace memtrace
