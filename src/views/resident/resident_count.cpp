#include "views/resident/resident_count.h"

#include <algorithm>
#include <utility>

#include "views/fault/fault_pairing.h"

namespace memtrace {
namespace {

// Pages that one entry of the page tables' second lowest level maps: a huge page, and the most that
// a fault maps around its own page (mm/memory.c, do_fault_around, finish_fault).
std::uint64_t block_pages(const World& world) {
  return std::uint64_t{1} << huge_page_order(world.page_size_bytes());
}

bool contains(const std::vector<ResidentSnapshot::Run>& runs, std::uint64_t page) {
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), page, [](std::uint64_t at, const ResidentSnapshot::Run& run) {
        return at < run.first;
      });
  return after != runs.begin() && page < std::prev(after)->limit;
}

template <typename Visit>
void for_each_page(const ResidentSnapshot& snapshot, Visit visit) {
  for (const ResidentSnapshot::Run& run : snapshot.runs) {
    for (std::uint64_t page = run.first; page < run.limit; ++page) {
      visit(page);
    }
  }
}

using OwnedPage = std::pair<std::uint64_t, PageOwners::Owner>;

// `owned` is in order and not empty.
OwnedPage nearest_to(std::uint64_t page, const std::vector<OwnedPage>& owned) {
  const auto after = std::lower_bound(
      owned.begin(), owned.end(), page, [](const OwnedPage& one, std::uint64_t at) {
        return one.first < at;
      });
  if (after == owned.begin() || after == owned.end()) {
    return after == owned.end() ? owned.back() : *after;
  }
  const auto before = std::prev(after);
  return page - before->first <= after->first - page ? *before : *after;
}

std::vector<OwnedPage> touched_pages(const FirstTouches::Space& space,
                                     std::uint64_t first,
                                     std::uint64_t limit) {
  std::vector<OwnedPage> owned;
  space.pages.for_each(first, limit, [&owned](std::uint64_t page, PageOwners::Owner owner) {
    if (FirstTouches::is_touch(owner)) {
      owned.emplace_back(page, owner);
    }
  });
  return owned;
}

}  // namespace

ResidentCount::ResidentCount(const World& world, std::uint64_t end_ns)
    : world_(world), before_(snapshots(world, kResidentAtBegin, end_ns)) {
  const FirstTouches& first = world.first_touches();
  touches_.resize(first.touches().size());
  Snapshots now = snapshots(world, kResidentAtEnd, end_ns);
  for (const auto& [pid, space] : first.spaces()) {
    const auto seen = now.find(pid);
    if (seen == now.end()) {
      count_as_touched(space);
      continue;
    }
    count(space, seen->second);
    now.erase(seen);
  }
  for (const auto& [pid, snapshot] : now) {
    count({}, snapshot);
  }
}

// A recording has them from its first record on: of a time before its end the last one says
// nothing.
ResidentCount::Snapshots ResidentCount::snapshots(const World& world,
                                                  std::string_view reader,
                                                  std::uint64_t end_ns) {
  Snapshots snapshots;
  const Observation* seen = world.observations().last(reader);
  if (seen == nullptr || seen->time_ns > end_ns) {
    return snapshots;
  }
  for (const Facts& facts : seen->rows) {
    if (auto snapshot = resident_snapshot(facts)) {
      snapshots[snapshot->pid] = std::move(*snapshot);
    }
  }
  return snapshots;
}

void ResidentCount::count_as_touched(const Space& space) {
  unseen_processes_ += space.ended || space.pages.empty() ? 0 : 1;
  space.pages.for_each([&](std::uint64_t, PageOwners::Owner owner) {
    if (FirstTouches::is_touch(owner)) {
      TouchedPages& pages = touches_[FirstTouches::index_of(owner)];
      ++(space.ended ? pages.ended : pages.resident);
    }
  });
}

void ResidentCount::count(const Space& space, const ResidentSnapshot& now) {
  Process process{.pid = now.pid, .comm = now.comm, .rss = now.rss_bytes, .swap = now.swap_bytes};
  if (!space.began && before_.contains(now.pid)) {
    process.rss_begin = before_.at(now.pid).rss_bytes;
  }
  std::vector<std::uint64_t> others;
  for_each_page(now, [&](std::uint64_t page) {
    if (!count_page(space, page, process)) {
      others.push_back(page);
    }
  });
  space.pages.for_each([&](std::uint64_t page, PageOwners::Owner owner) {
    if (FirstTouches::is_touch(owner) && !contains(now.runs, page)) {
      ++touches_[FirstTouches::index_of(owner)].gone;
    }
  });
  process.by_stack += count_beside(space, now.pid, others) * world_.page_size_bytes();
  processes_.push_back(std::move(process));
}

// False: nothing that was seen made it resident.
bool ResidentCount::count_page(const Space& space, std::uint64_t page, Process& process) {
  const std::uint64_t page_bytes = world_.page_size_bytes();
  if (const auto owner = space.pages.at(page); FirstTouches::is_touch(owner)) {
    ++touches_[FirstTouches::index_of(owner)].resident;
    process.by_stack += page_bytes;
  } else if (process.rss_begin && was_resident(process.pid, page)) {
    process.before += page_bytes;
  } else if (was_inherited(space, page)) {
    process.inherited += page_bytes;
  } else {
    return false;
  }
  return true;
}

bool ResidentCount::was_resident(std::uint32_t pid, std::uint64_t page) const {
  const auto found = before_.find(pid);
  return found != before_.end() && contains(found->second.runs, page);
}

// From the parent: what it had touched, and what it had when the recording began.
bool ResidentCount::was_inherited(const Space& space, std::uint64_t page) const {
  return space.parent != 0 &&
         (space.inherited.at(page) != PageOwners::kNone || was_resident(space.parent, page));
}

// Gives each of these pages to the stack of the nearest touched page of its block.
std::uint64_t ResidentCount::count_beside(const Space& space,
                                          std::uint32_t pid,
                                          const std::vector<std::uint64_t>& pages) {
  const std::uint64_t size = block_pages(world_);
  std::uint64_t count = 0;
  std::uint64_t block = ~std::uint64_t{0};
  std::vector<OwnedPage> owned;
  for (const std::uint64_t page : pages) {
    if (page / size != block) {
      block = page / size;
      owned = touched_pages(space, block * size, (block + 1) * size);
    }
    const bool is_alone = owned.empty() || world_.first_touches().weight() > 1;
    const OwnedPage nearest = is_alone ? OwnedPage() : nearest_to(page, owned);
    if (is_alone || !is_one_mapping(pid, page, nearest.first)) {
      continue;
    }
    TouchedPages& touched = touches_[FirstTouches::index_of(nearest.second)];
    ++touched.resident;
    ++touched.beside;
    ++count;
  }
  return count;
}

// Where the mappings are known.
bool ResidentCount::is_one_mapping(std::uint32_t pid,
                                   std::uint64_t page,
                                   std::uint64_t other) const {
  const std::uint64_t page_bytes = world_.page_size_bytes();
  const auto first = world_.find(pid, page * page_bytes);
  const auto second = world_.find(pid, other * page_bytes);
  return first && second ? first->area.path == second->area.path : !first && !second;
}

}  // namespace memtrace
