#include "state/heap/heap_names.h"

namespace memtrace {

const HeapNames::Names& HeapNames::of(const EventType& type, StringTable& strings) {
  if (type.index >= names_.size()) {
    names_.resize(type.index + std::size_t{1});
  }
  Names& names = names_[type.index];
  if (!names.function.valid()) {
    names = {.function = strings.intern(type.probe.empty() ? type.heap_function : type.probe),
             .call = strings.intern(type.heap_call)};
  }
  return names;
}

}  // namespace memtrace
