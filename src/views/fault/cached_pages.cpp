#include "views/fault/cached_pages.h"

namespace memtrace {

std::uint64_t CachedPages::add(std::uint64_t first, std::uint64_t count, bool may_grow) {
  std::uint64_t again = 0;
  for (std::uint64_t page = first; page < first + count; ++page) {
    const std::uint64_t number = page / kPagesPerPiece;
    auto piece = pieces_.find(number);
    if (piece == pieces_.end() && !may_grow) {
      is_complete_ = false;
      continue;
    }
    piece = piece == pieces_.end() ? pieces_.try_emplace(number).first : piece;
    auto is_known = piece->second[static_cast<std::size_t>(page % kPagesPerPiece)];
    again += is_known ? 1 : 0;
    distinct_ += is_known ? 0 : 1;
    is_known = true;
  }
  return again;
}

}  // namespace memtrace
