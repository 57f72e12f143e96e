// Which pages of one file have entered the page cache: one that enters again was dropped and had to
// be read once more.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>

namespace memtrace {

class CachedPages {
 public:
  static constexpr std::size_t kPagesPerPiece = 4096;

  // Pages `first` and on entered the page cache. `may_grow`: new pieces may be made; without, pages
  // outside of those that there are do not count. Returns how many of them had entered before.
  std::uint64_t add(std::uint64_t first, std::uint64_t count, bool may_grow) {
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

  // Pieces of memory, of some 600 bytes each.
  std::size_t piece_count() const { return pieces_.size(); }

  std::uint64_t distinct() const { return distinct_; }

  bool is_complete() const { return is_complete_; }

 private:
  std::map<std::uint64_t, std::bitset<kPagesPerPiece>> pieces_;  // by page number / kPagesPerPiece
  std::uint64_t distinct_ = 0;
  bool is_complete_ = true;  // no page was left out
};

}  // namespace memtrace
