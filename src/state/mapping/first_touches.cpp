#include "state/mapping/first_touches.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/kernel_address.h"
#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

// How many ended processes keep their pages.
constexpr std::size_t kMaxEnded = 512;
constexpr std::uint64_t kPageTableEntryBytes = 8;
// From the fault to its large folio: the kernel may have to compact memory for it. A thread that
// faults and then reads a file may get a huge page for the page cache, too.
constexpr std::uint64_t kMostNsToFolio = 50'000'000;
// include/uapi/asm-generic/mman-common.h. Pages of MADV_FREE stay until the kernel wants them.
constexpr std::uint64_t kAdviseRemove = 9;
constexpr std::uint64_t kAdviseDontNeedLocked = 24;

bool is_present(const PageFault& fault) {
  return fault.has_error_code && (fault.error_code & kFaultPresent) != 0;
}

bool is_read(const PageFault& fault) {
  return fault.has_error_code && (fault.error_code & kFaultWrite) == 0;
}

bool is_private_memory(const MemoryMap::Entry* area) {
  return area != nullptr &&
         (area->value.kind == AreaKind::Anonymous || area->value.kind == AreaKind::Heap ||
          area->value.kind == AreaKind::Stack);
}

// Pages of hugetlb are not part of the resident size (fs/proc/task_mmu.c). A fault where nothing
// may be accessed fails.
bool is_never_counted(const MemoryMap::Entry* area) {
  if (area == nullptr) {
    return false;
  }
  const MemoryArea& what = area->value;
  return what.kind == AreaKind::HugePages || (what.protection == 0 && what.flags != 0);
}

// The range of its first two arguments.
bool takes_range_away(const SystemCallEntry& entry) {
  const std::uint64_t advice = entry.arguments[2] & 0xffffffffU;
  switch (entry.call) {
    case SystemCall::Munmap:
      return true;
    case SystemCall::Madvise:
      return advice == kAdviseDontNeed || advice == kAdviseRemove ||
             advice == kAdviseDontNeedLocked;
    case SystemCall::Mmap:
      return (entry.arguments[3] & kMapFixed) != 0;
    default:
      return false;
  }
}

}  // namespace

std::size_t FirstTouches::Hash::operator()(const FirstTouch& touch) const {
  const std::array<std::uint64_t, 4> words = {
      std::uint64_t{touch.stack.value} << 32U | touch.pid,
      std::uint64_t{touch.tid} << 32U | touch.comm.value,
      std::uint64_t{touch.path.value} << 32U | touch.life.value,
      std::uint64_t{touch.identity.value} << 32U | static_cast<std::uint64_t>(touch.kind)};
  return static_cast<std::size_t>(hash_words(words));
}

FirstTouches::FirstTouches(std::uint64_t page_size_bytes)
    : page_size_bytes_(page_size_bytes),
      huge_pages_(std::max(page_size_bytes / kPageTableEntryBytes, std::uint64_t{1})) {}

void FirstTouches::apply(const Event& event, const MemoryMaps& maps, bool counts) {
  counts_ = counts;
  if (const auto* entered = std::get_if<PageFault>(&event.payload)) {
    fault(event, *entered, maps);
  } else if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    large_folio(event, *alloc, maps);
  } else if (const auto* entry = std::get_if<SystemCallEntry>(&event.payload)) {
    begin_call(event, *entry, maps);
  } else if (const auto* done = std::get_if<SystemCallDone>(&event.payload)) {
    end_call(event, *done);
  }
}

void FirstTouches::fault(const Event& event, const PageFault& fault, const MemoryMaps& maps) {
  if (fault.stage != FaultStage::Entry || fault.address >= kFirstKernelAddress) {
    return;
  }
  weight_ = std::max(weight_, event.weight);
  const std::uint64_t page = fault.address / page_size_bytes_;
  Space& space = spaces_[event.pid];
  space.ended = false;  // the first thread alone has
  if (stays(space, page, fault)) {
    return;
  }
  const MemoryMap::Entry* area = maps.find(event.pid, fault.address);
  if (is_never_counted(area)) {
    return;
  }
  // A read maps the one page of zeros, which is no resident memory (mm/memory.c,
  // do_anonymous_page); the write that follows finds a page there.
  if (is_read(fault) && is_private_memory(area)) {
    if (!is_present(fault)) {
      space.pages.set(page, kZeroPage);
    }
    return;
  }
  touch(event, page, area);
  pending_[event.tid] = {.page = page, .time_ns = event.time_ns};
}

// Whether the page stays whose it is, or with nobody.
bool FirstTouches::stays(Space& space, std::uint64_t page, const PageFault& fault) {
  const PageOwners::Owner owner = space.pages.at(page);
  if (owner == PageOwners::kNone) {
    return is_present(fault) && !space.began;  // resident since before the recording
  }
  if (!is_touch(owner)) {
    return false;
  }
  if (is_present(fault) || has_calls_) {
    return true;  // it was swapped out, or moved
  }
  give_back(space, page * page_size_bytes_, (page + 1) * page_size_bytes_);  // by an unseen call
  return false;
}

void FirstTouches::touch(const Event& event, std::uint64_t page, const MemoryMap::Entry* area) {
  FirstTouch touch{.pid = event.pid,
                   .tid = event.tid,
                   .comm = event.comm,
                   .stack = event.stack.id(),
                   .identity = event.identity,
                   .life = event.life};
  if (area != nullptr) {
    touch.has_area = true;
    touch.kind = area->value.kind;
    touch.path = area->value.has_offset() ? area->value.path : StringId();
  }
  const PageOwners::Owner owner = owner_of(touch);
  spaces_[event.pid].pages.set(page, owner);
  sums_of(owner).touched += counts_ ? 1 : 0;
}

PageOwners::Owner FirstTouches::owner_of(const FirstTouch& touch) {
  const auto next = static_cast<PageOwners::Owner>(touches_.size() + kFirstTouch);
  const auto [found, is_new] = owners_.try_emplace(touch, next);
  if (is_new) {
    touches_.push_back(touch);
    sums_.emplace_back();
  }
  return found->second;
}

void FirstTouches::large_folio(const Event& event, const PageAlloc& alloc, const MemoryMaps& maps) {
  constexpr std::uint32_t kBeyondAnyOrder = 32;
  const std::uint64_t pages = std::uint64_t{1} << std::min(alloc.order, kBeyondAnyOrder);
  const bool is_large =
      pages >= huge_pages_ || (alloc.like_huge_page && alloc.order >= kSmallestFolioOrder);
  const auto found = pending_.find(event.tid);
  if (!is_large || alloc.failed || found == pending_.end()) {
    return;
  }
  const Pending fault = found->second;
  pending_.erase(found);
  const std::uint64_t first = fault.page / pages * pages;
  const MemoryMap::Entry* area = maps.find(event.pid, fault.page * page_size_bytes_);
  const bool fits = area != nullptr && area->start <= first * page_size_bytes_ &&
                    area->limit >= (first + pages) * page_size_bytes_;
  if (!fits || area->value.kind == AreaKind::File ||
      event.time_ns > fault.time_ns + kMostNsToFolio) {
    return;
  }
  Space& space = spaces_[event.pid];
  const PageOwners::Owner owner = space.pages.at(fault.page);
  for (std::uint64_t page = first; is_touch(owner) && page < first + pages; ++page) {
    if (!is_touch(space.pages.at(page))) {
      space.pages.set(page, owner);
      sums_of(owner).touched += counts_ ? 1 : 0;
    }
  }
}

// At the begin: once the call is over, another thread may have touched what was mapped there since.
void FirstTouches::begin_call(const Event& event,
                              const SystemCallEntry& entry,
                              const MemoryMaps& maps) {
  has_calls_ = has_calls_ || entry.call != SystemCall::Other;
  const std::uint64_t start = entry.arguments[0];
  const std::uint64_t limit = start + std::min(entry.arguments[1], ~start);
  if (takes_range_away(entry)) {
    give_back(spaces_[event.pid], start, limit);
  } else if (entry.call == SystemCall::Brk) {
    const std::uint64_t top = maps.heap_top(event.pid);
    const std::uint64_t last = page_size_bytes_ - 1;
    if (start != 0 && start < top) {
      give_back(spaces_[event.pid], (start + last) & ~last, top);
    }
  } else if (entry.call == SystemCall::Shmdt) {
    if (const auto* area = maps.find(event.pid, start)) {
      give_back(spaces_[event.pid], area->start, area->limit);
    }
  }
}

void FirstTouches::end_call(const Event& event, const SystemCallDone& done) {
  if (done.call != SystemCall::Mremap || done.failed() || done.arguments[1] == 0) {
    return;
  }
  const auto whole = [this](std::uint64_t bytes) {
    return (bytes + page_size_bytes_ - 1) / page_size_bytes_;
  };
  Space& space = spaces_[event.pid];
  const std::uint64_t from = done.arguments[0] / page_size_bytes_;
  const std::uint64_t to = static_cast<std::uint64_t>(done.result) / page_size_bytes_;
  const std::uint64_t old_pages = whole(done.arguments[1]);
  const std::uint64_t new_pages = whole(done.arguments[2]);
  if (new_pages < old_pages) {
    give_back(space, (from + new_pages) * page_size_bytes_, (from + old_pages) * page_size_bytes_);
  }
  if (to != from) {
    give_back(space, to * page_size_bytes_, (to + new_pages) * page_size_bytes_);
    space.pages.move(from, from + std::min(old_pages, new_pages), to);
    space.inherited.move(from, from + std::min(old_pages, new_pages), to);
  }
}

void FirstTouches::give_back(Space& space, std::uint64_t start, std::uint64_t limit) {
  const std::uint64_t first = start / page_size_bytes_;
  const std::uint64_t last = limit / page_size_bytes_ + (limit % page_size_bytes_ == 0 ? 0 : 1);
  space.pages.erase(first, last, [this](PageOwners::Owner owner) {
    if (is_touch(owner)) {
      sums_of(owner).freed += counts_ ? 1 : 0;
    }
  });
  space.inherited.erase(first, last, [](PageOwners::Owner) {});
}

void FirstTouches::fork(std::uint32_t parent_pid, std::uint32_t pid) {
  if (pid == parent_pid) {
    return;
  }
  Space child{.parent = parent_pid, .began = true};
  if (const auto parent = spaces_.find(parent_pid); parent != spaces_.end()) {
    child.inherited = parent->second.pages;
    child.inherited.add(parent->second.inherited);
  }
  if (const auto former = spaces_.find(pid); former != spaces_.end()) {
    count_ended(former->second);  // the id was another's
  }
  spaces_[pid] = std::move(child);
}

void FirstTouches::exec(std::uint32_t pid) {
  give_back(spaces_[pid], 0, ~std::uint64_t{0});
  spaces_[pid] = {.began = true};
}

void FirstTouches::exit(std::uint32_t pid, std::uint32_t tid) {
  pending_.erase(tid);
  const auto found = spaces_.find(pid);
  if (pid != tid || found == spaces_.end()) {
    return;
  }
  found->second.ended = true;
  found->second.inherited = {};
  ended_.push_back(pid);
  if (ended_.size() > kMaxEnded) {
    forget_oldest();
  }
}

void FirstTouches::forget_oldest() {
  const auto oldest = spaces_.find(ended_.front());
  ended_.pop_front();
  if (oldest == spaces_.end() || !oldest->second.ended) {
    return;  // its id is another's now
  }
  count_ended(oldest->second);
  spaces_.erase(oldest);
}

void FirstTouches::count_ended(const Space& space) {
  space.pages.for_each([this](std::uint64_t, PageOwners::Owner owner) {
    if (is_touch(owner)) {
      ++sums_of(owner).ended;
    }
  });
}

}  // namespace memtrace
