#include "unwind/rule_table.h"

#include <sys/mman.h>

#include <new>

namespace memtrace {

RuleTable::RuleTable() {
  auto memory = Mapping::map({.size_bytes = kEntries * sizeof(Entry),
                              .prot = PROT_READ | PROT_WRITE,
                              .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE});
  if (!memory.ok()) {
    throw std::bad_alloc();
  }
  memory_ = memory.take();
  entries_ = reinterpret_cast<Entry*>(memory_.bytes().data());
}

}  // namespace memtrace
