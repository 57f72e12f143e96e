#include "views/leak/pinned_pages.h"

#include <algorithm>

namespace memtrace {

template <typename Visitor>
void PinnedPages::for_each_part(const LiveBlock& block, Visitor visit) const {
  const std::uint64_t end = block.key + block.bytes;
  const std::uint64_t first = block.key / page_size_bytes_;
  const std::uint64_t last = block.bytes == 0 ? first : (end - 1) / page_size_bytes_;
  const std::uint64_t first_limit = (first + 1) * page_size_bytes_;
  visit(Page{block.pid, first}, std::min(end, first_limit) - block.key);
  if (last != first) {
    visit(Page{block.pid, last}, end - last * page_size_bytes_);
  }
}

PinnedPages::PinnedPages(std::span<const LiveBlock* const> blocks, std::uint64_t page_size_bytes)
    : page_size_bytes_(page_size_bytes) {
  for (const LiveBlock* block : blocks) {
    for_each_part(*block, [this](const Page& page, std::uint64_t bytes) { live_[page] += bytes; });
  }
}

std::uint64_t PinnedPages::bytes_kept_by(const LiveBlock& block) const {
  std::uint64_t kept = block.bytes;  // what lies in pages between
  for_each_part(block, [&](const Page& page, std::uint64_t bytes) {
    const auto found = live_.find(page);
    const std::uint64_t live = found == live_.end() ? 0 : found->second;
    kept += (live == 0 ? page_size_bytes_ : page_size_bytes_ * bytes / live) - bytes;
  });
  return kept;
}

}  // namespace memtrace
