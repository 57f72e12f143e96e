// Who each page of an address space belongs to, as a number. Pages are kept in chunks of 64, so
// that a page costs four bytes, and a copy, as fork(2) makes one, costs a pointer for each chunk:
// both share the chunks until one of them changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/hash_map.h"

namespace memtrace {

class PageOwners {
 public:
  using Owner = std::uint32_t;
  static constexpr Owner kNone = 0;

  // By page number: the address over the page size. kNone where the page has no owner.
  Owner at(std::uint64_t page) const;

  void set(std::uint64_t page, Owner owner);

  // visit(owner) for each page of [first, limit) that had one.
  template <typename Visitor>
  void erase(std::uint64_t first, std::uint64_t limit, Visitor visit) {
    std::vector<std::pair<std::uint64_t, Owner>> erased;
    for_each(
        first, limit, [&](std::uint64_t page, Owner owner) { erased.emplace_back(page, owner); });
    for (const auto& [page, owner] : erased) {
      set(page, kNone);
      visit(owner);
    }
  }

  // The pages of [first, limit) go to `to` with their owners, and have none any more where they
  // were.
  void move(std::uint64_t first, std::uint64_t limit, std::uint64_t to);

  // Each page of the other, where this has no owner.
  void add(const PageOwners& other);

  // visit(page, owner), in order of pages.
  template <typename Visitor>
  void for_each(std::uint64_t first, std::uint64_t limit, Visitor visit) const {
    for (const std::uint64_t number : chunks_in(first, limit)) {
      visit_chunk(number, std::max(first, number * kChunkPages), limit, visit);
    }
  }

  template <typename Visitor>
  void for_each(Visitor visit) const {
    for_each(0, ~std::uint64_t{0}, visit);
  }

  bool empty() const { return chunks_.empty(); }

 private:
  static constexpr std::size_t kChunkPages = 64;

  struct Chunk {
    std::array<Owner, kChunkPages> owners{};
    std::uint32_t used = 0;  // of them not kNone
  };

  // `first` is in the chunk.
  template <typename Visitor>
  void visit_chunk(std::uint64_t number,
                   std::uint64_t first,
                   std::uint64_t limit,
                   Visitor& visit) const {
    const std::uint64_t start = number * kChunkPages;
    const Chunk& chunk = *chunks_.at(number);
    for (std::uint64_t page = first; page < std::min(limit, start + kChunkPages); ++page) {
      if (const Owner owner = chunk.owners[page - start]; owner != kNone) {
        visit(page, owner);
      }
    }
  }

  // The numbers of the chunks that there are in this range of pages, in order.
  std::vector<std::uint64_t> chunks_in(std::uint64_t first, std::uint64_t limit) const;
  Chunk& own_chunk(std::uint64_t number);

  HashMap<std::uint64_t, std::shared_ptr<Chunk>> chunks_;
};

}  // namespace memtrace
