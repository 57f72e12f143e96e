#include "views/heap/kernel_memory.h"

#include <algorithm>
#include <map>
#include <string>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

using BytesByProcess = std::map<std::uint32_t, std::uint64_t>;

BytesByProcess held_bytes(const World& world) {
  BytesByProcess held;
  const auto add = [&held](const LiveBlock& block) {
    held[block.pid] += block.is_inherited ? 0 : block.weight * block.bytes;
  };
  world.heap().for_each(add);
  world.mapped().for_each(add);
  return held;
}

std::vector<Cell> row_of(const World& world,
                         std::uint32_t pid,
                         const KernelMemory::Taken& taken,
                         std::uint64_t held) {
  return {std::uint64_t{pid},
          cell_of(world.strings().at(world.processes().comm(pid, pid))),
          taken.bytes(),
          taken.mapped_bytes,
          taken.brk_bytes,
          held};
}

}  // namespace

void add_kernel_memory(Report& report, const World& world, const TaskFilter& tasks) {
  if (world.kernel_memory().empty()) {
    return;
  }
  BytesByProcess held = held_bytes(world);
  Table table{.title = "memory from the kernel, by process",
              .columns = {{"pid", Unit::Number},
                          {"comm", Unit::Text},
                          {"from_kernel", Unit::Bytes},
                          {"mmap", Unit::Bytes},
                          {"brk", Unit::Bytes},
                          {"held", Unit::Bytes}},
              .key_count = 2,
              .sort = "from_kernel"};
  std::int64_t total = 0;
  for (const auto& [pid, taken] : world.kernel_memory().taken()) {
    if (tasks.accepts_process(world, pid)) {
      total += taken.bytes();
      table.rows.push_back(row_of(world, pid, taken, held[pid]));
    }
  }
  report.totals.push_back(
      {"from_kernel", Unit::Bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(total, 0))});
  report.tables.push_back(std::move(table));
  report.caveats.notes.emplace_back(
      "from_kernel is memory that programs took by mmap and brk while recording and did not give "
      "back, without thread stacks; held is the bytes of blocks that were allocated in that time "
      "and not freed; the difference is free memory of the allocator, or was mapped for other "
      "purposes");
}

}  // namespace memtrace
