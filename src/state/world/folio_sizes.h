// How large the large folios of the page cache are, by their place in a file. Some events of the
// kernel name a folio and not its size, as writeback:writeback_dirty_folio does. The event that
// adds the folio to the page cache has its order (filemap:mm_filemap_add_to_page_cache, from 6.1
// and RHEL 9.2 on).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "state/world/aging_map.h"
#include "tracepoints/event/event_resident.h"

namespace memtrace {

class FolioSizes {
 public:
  void on(const PageCacheChange& change);

  // 1 for a single page, and for a folio that was in the page cache before the first event.
  std::uint64_t pages_at(std::uint64_t inode, std::uint64_t index) const;

 private:
  // Other events do not name the file's device, but its disk: a partition has another number.
  struct Place {
    std::uint64_t inode = 0;
    std::uint64_t index = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };

  struct Hash {
    std::size_t operator()(const Place& place) const {
      return combine(mix(place.inode), place.index);
    }
  };

  struct Folio {
    std::uint32_t device_major = 0;
    std::uint32_t device_minor = 0;
    std::uint32_t order = 0;  // 0: two file systems have folios of different orders there
  };

  // There are twice as many at most, in some 20 MB.
  static constexpr std::size_t kMaxYoung = 131'072;

  AgingMap<Place, Folio, Hash> folios_{kMaxYoung};
};

}  // namespace memtrace
