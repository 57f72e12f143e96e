#include "state/world/folio_sizes.h"

namespace memtrace {

void FolioSizes::on(const PageCacheChange& change) {
  const Place place{change.inode, change.index};
  Folio folio{change.device_major, change.device_minor, change.order};
  const Folio* known = folios_.find(place);
  if (!change.added || change.order == 0) {
    folios_.erase(place);
    return;
  }
  const bool is_of_other = known != nullptr && (known->device_major != folio.device_major ||
                                                known->device_minor != folio.device_minor);
  if (is_of_other && known->order != folio.order) {
    folio.order = 0;
  }
  folios_.put(place, folio);
}

std::uint64_t FolioSizes::pages_at(std::uint64_t inode, std::uint64_t index) const {
  const Folio* folio = folios_.find({inode, index});
  return std::uint64_t{1} << (folio == nullptr ? 0 : folio->order);
}

}  // namespace memtrace
