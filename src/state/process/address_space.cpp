#include "state/process/address_space.h"

namespace memtrace {

void AddressSpace::map(Range range, Region region) {
  if (regions_.assign(range.start, range.limit, region)) {
    ++generation_;
  }
}

void AddressSpace::clear() {
  regions_.clear();
  ++generation_;
}

CodeLocation AddressSpace::locate(std::uint64_t avma, bool is_return_address) const {
  const auto* entry = regions_.find(avma - (is_return_address ? 1 : 0));
  if (entry == nullptr) {
    return {ModuleId{}, is_return_address, avma};
  }
  return {entry->value.module, is_return_address, avma + entry->value.offset_minus_avma};
}

}  // namespace memtrace
