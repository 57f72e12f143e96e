#include "state/mapping/memory_area.h"

#include <algorithm>
#include <array>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

constexpr auto kKindNames = std::to_array<std::string_view>(
    {"file", "heap", "stack", "anonymous", "shared memory", "huge pages", "special"});

// Names of kernel objects that only look like paths (ipc/shm.c, mm/memfd.c, mm/shmem.c), and where
// shm_open(3) makes its files.
constexpr auto kSharedMemory =
    std::to_array<std::string_view>({"/SYSV", "/memfd:", "/dev/shm/", "[anon_shmem:"});

AreaKind kind_in_brackets(std::string_view name) {
  if (name == "[heap]") {
    return AreaKind::Heap;
  }
  if (name.starts_with("[stack")) {
    return AreaKind::Stack;
  }
  return name.starts_with("[anon:") ? AreaKind::Anonymous : AreaKind::Special;
}

}  // namespace

AreaKind area_kind(std::string_view path, std::uint32_t flags) {
  const auto begins = [path](std::string_view start) { return path.starts_with(start); };
  if ((flags & kMapHugeTlb) != 0 || begins("/anon_hugepage")) {
    return AreaKind::HugePages;
  }
  if (std::any_of(kSharedMemory.begin(), kSharedMemory.end(), begins)) {
    return AreaKind::SharedMemory;
  }
  if (begins("/dev/zero")) {  // the name of anonymous shared memory too
    return (flags & kMapShared) != 0 ? AreaKind::SharedMemory : AreaKind::Anonymous;
  }
  if (begins("[")) {
    return kind_in_brackets(path);
  }
  return path.empty() || begins("//") ? AreaKind::Anonymous : AreaKind::File;
}

std::string_view name_of(AreaKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

}  // namespace memtrace
