#include "state/heap_names.h"

#include "tracepoints/heap.h"

namespace memtrace {

const HeapNames::Names& HeapNames::of(const EventType& type, StringTable& strings) {
  if (type.index >= names_.size()) {
    names_.resize(type.index + std::size_t{1});
  }
  Names& names = names_[type.index];
  if (!names.call.valid()) {
    names = {.function = strings.intern(heap_function(type.name)),
             .call = strings.intern(heap_call_name(type.name))};
  }
  return names;
}

}  // namespace memtrace
