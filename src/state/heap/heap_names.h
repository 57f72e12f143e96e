// What user probes are called, looked up once for each kind of event.
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/interner.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class HeapNames {
 public:
  struct Names {
    StringId function;  // "malloc"
    StringId call;      // "malloc_2": the same for a call and its return
  };

  const Names& of(const EventType& type, StringTable& strings);

 private:
  std::vector<Names> names_;  // by EventType::index
};

}  // namespace memtrace
