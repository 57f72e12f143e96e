#include "state/mapping/page_owners.h"

#include <utility>

namespace memtrace {

PageOwners::Owner PageOwners::at(std::uint64_t page) const {
  const auto found = chunks_.find(page / kChunkPages);
  return found == chunks_.end() ? kNone : found->second->owners[page % kChunkPages];
}

void PageOwners::set(std::uint64_t page, Owner owner) {
  if (at(page) == owner) {
    return;
  }
  const std::uint64_t number = page / kChunkPages;
  Chunk& chunk = own_chunk(number);
  const Owner before = std::exchange(chunk.owners[page % kChunkPages], owner);
  chunk.used += before == kNone ? 1 : 0;
  chunk.used -= owner == kNone ? 1 : 0;
  if (chunk.used == 0) {
    chunks_.erase(number);
  }
}

void PageOwners::move(std::uint64_t first, std::uint64_t limit, std::uint64_t to) {
  std::vector<std::pair<std::uint64_t, Owner>> moved;
  for_each(first, limit, [&](std::uint64_t page, Owner owner) { moved.emplace_back(page, owner); });
  for (const auto& [page, owner] : moved) {  // all of them first: the ranges may overlap
    set(page, kNone);
  }
  for (const auto& [page, owner] : moved) {
    set(page - first + to, owner);
  }
}

void PageOwners::add(const PageOwners& other) {
  std::vector<std::uint64_t> in_both;
  for (const auto& [number, chunk] : other.chunks_) {
    if (!chunks_.try_emplace(number, chunk).second) {
      in_both.push_back(number);
    }
  }
  const auto add_page = [this](std::uint64_t page, Owner owner) {
    if (at(page) == kNone) {
      set(page, owner);
    }
  };
  for (const std::uint64_t number : in_both) {
    other.for_each(number * kChunkPages, (number + 1) * kChunkPages, add_page);
  }
}

std::vector<std::uint64_t> PageOwners::chunks_in(std::uint64_t first, std::uint64_t limit) const {
  std::vector<std::uint64_t> numbers;
  if (first >= limit) {
    return numbers;
  }
  const std::uint64_t from = first / kChunkPages;
  const std::uint64_t last = (limit - 1) / kChunkPages;
  const bool has_few = last - from < chunks_.size();
  for (std::uint64_t number = from; has_few && number <= last; ++number) {
    if (chunks_.contains(number)) {
      numbers.push_back(number);
    }
  }
  if (has_few) {
    return numbers;
  }
  for (const auto& [number, chunk] : chunks_) {  // of a range larger than all that there is
    if (number >= from && number <= last) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

PageOwners::Chunk& PageOwners::own_chunk(std::uint64_t number) {
  std::shared_ptr<Chunk>& chunk = chunks_[number];
  if (chunk == nullptr) {
    chunk = std::make_shared<Chunk>();
  } else if (chunk.use_count() > 1) {
    chunk = std::make_shared<Chunk>(*chunk);
  }
  return *chunk;
}

}  // namespace memtrace
