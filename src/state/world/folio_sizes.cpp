#include "state/world/folio_sizes.h"

#include <utility>

namespace memtrace {

// Indexes are multiples of powers of two: without the multiplication they would share few buckets.
std::size_t FolioSizes::Hash::operator()(const Place& place) const {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
  constexpr unsigned kHalf = 32;
  const std::uint64_t mixed = (place.inode * kGoldenRatio + place.index) * kGoldenRatio;
  return mixed ^ (mixed >> kHalf);
}

const FolioSizes::Folio* FolioSizes::find(const Place& place) const {
  for (const Folios* folios : {&young_, &old_}) {
    if (const auto found = folios->find(place); found != folios->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void FolioSizes::on(const PageCacheChange& change) {
  const Place place{change.inode, change.index};
  Folio folio{change.device_major, change.device_minor, change.order};
  const Folio* known = find(place);
  if (!change.added || change.order == 0) {
    if (known != nullptr) {
      young_.erase(place);
      old_.erase(place);
    }
    return;
  }
  const bool is_of_other = known != nullptr && (known->device_major != folio.device_major ||
                                                known->device_minor != folio.device_minor);
  if (is_of_other && known->order != folio.order) {
    folio.order = 0;
  }
  if (young_.size() >= kMaxYoung) {
    old_ = std::exchange(young_, {});
  }
  young_[place] = folio;
}

std::uint64_t FolioSizes::pages_at(std::uint64_t inode, std::uint64_t index) const {
  const Folio* folio = find({inode, index});
  return std::uint64_t{1} << (folio == nullptr ? 0 : folio->order);
}

}  // namespace memtrace
