// Which code touched each resident page of each process first, from page faults alone. A page is
// forgotten when a call gives it back; what the kernel takes away without an event stays here until
// somebody looks at the page tables.
//
//   page fault at X       X belongs to the fault's stack, unless it has an owner: then it was
//                         swapped out, or was only made writable
//   large folio in it     so do its pages around X, 512 of a huge page
//   munmap, madvise, brk  the pages of the range belong to nobody
//   mremap                they move with their owners
//   fork                  the child inherits all pages; what it writes becomes its own
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/hash_map.h"
#include "base/ids.h"
#include "state/mapping/memory_maps.h"
#include "state/mapping/page_owners.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// Who touched pages, and in which kind of mapping.
struct FirstTouch {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId comm;
  StackId stack;
  IdentityId identity;
  LifeId life;
  bool has_area = false;  // the mapping is known
  AreaKind kind = AreaKind::Anonymous;
  StringId path;

  friend bool operator==(const FirstTouch&, const FirstTouch&) = default;
};

class FirstTouches {
 public:
  explicit FirstTouches(std::uint64_t page_size_bytes);

  // Pages of one FirstTouch, since the time that is counted from.
  struct Sums {
    std::uint64_t touched = 0;
    std::uint64_t freed = 0;  // by a call, or by exec
    std::uint64_t ended = 0;  // of processes that ended long ago: what they had then
  };

  // The address space of a process.
  struct Space {
    PageOwners pages;          // owners: see touch()
    PageOwners inherited;      // the parent's at the fork
    std::uint32_t parent = 0;  // that was forked; 0: none, or exec came after it
    bool began = false;        // in the recording: it had no pages before
    bool ended = false;        // its first thread has ended
  };

  // After the world has changed the mappings by the event. `counts`: it adds to sums().
  void apply(const Event& event, const MemoryMaps& maps, bool counts);

  void fork(std::uint32_t parent_pid, std::uint32_t pid);
  void exec(std::uint32_t pid);
  void exit(std::uint32_t pid, std::uint32_t tid);

  const std::map<std::uint32_t, Space>& spaces() const { return spaces_; }

  // False for an owner that touched nothing: the page is the kernel's page of zeros.
  static bool is_touch(PageOwners::Owner owner) { return owner >= kFirstTouch; }

  // The index of an owner in touches() and sums().
  static std::size_t index_of(PageOwners::Owner owner) { return owner - kFirstTouch; }

  const std::vector<FirstTouch>& touches() const { return touches_; }

  const std::vector<Sums>& sums() const { return sums_; }

  // Pages that a sample represents; more than 1 when one in N was sampled.
  std::uint64_t weight() const { return weight_; }

  bool has_calls() const { return has_calls_; }

 private:
  static constexpr PageOwners::Owner kZeroPage = 1;
  static constexpr PageOwners::Owner kFirstTouch = 2;

  Sums& sums_of(PageOwners::Owner owner) { return sums_[index_of(owner)]; }

  // The newest fault of a thread: a large folio that is allocated next is for it.
  struct Pending {
    std::uint64_t page = 0;
    std::uint64_t time_ns = 0;
  };

  struct Hash {
    std::size_t operator()(const FirstTouch& touch) const;
  };

  void fault(const Event& event, const PageFault& fault, const MemoryMaps& maps);
  bool stays(Space& space, std::uint64_t page, const PageFault& fault);
  void touch(const Event& event, std::uint64_t page, const MemoryMap::Entry* area);
  void large_folio(const Event& event, const PageAlloc& alloc, const MemoryMaps& maps);
  void begin_call(const Event& event, const SystemCallEntry& entry, const MemoryMaps& maps);
  void end_call(const Event& event, const SystemCallDone& done);
  void give_back(Space& space, std::uint64_t start, std::uint64_t limit);
  PageOwners::Owner owner_of(const FirstTouch& touch);
  void forget_oldest();
  void count_ended(const Space& space);

  std::uint64_t page_size_bytes_ = 4096;
  std::uint64_t huge_pages_ = 512;  // that one huge page is as large as
  std::map<std::uint32_t, Space> spaces_;
  std::deque<std::uint32_t> ended_;
  HashMap<std::uint32_t, Pending> pending_;  // by tid
  HashMap<FirstTouch, PageOwners::Owner, Hash> owners_;
  std::vector<FirstTouch> touches_;
  std::vector<Sums> sums_;
  std::uint64_t weight_ = 1;
  bool has_calls_ = false;
  bool counts_ = true;
};

}  // namespace memtrace
