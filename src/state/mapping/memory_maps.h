// The mappings of all processes as of now, from mmap records, from /proc as it was at the start,
// and from the system calls that the kernel announces by no record: munmap, mremap, shmdt and a
// shrinking brk.
//
// A system call is seen to end a moment after the kernel let go of the address space, and another
// thread's mapping may come to the same place before that:
//
//   thread A   |-- munmap X ---------|
//   kernel           X is free
//   thread B               |-- mmap: X --|
//
// So what was mapped while another thread was in a call that unmaps is kept from that call's end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "state/mapping/memory_map.h"
#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

class MemoryMaps {
 public:
  explicit MemoryMaps(std::uint64_t page_size_bytes) : page_size_bytes_(page_size_bytes) {}

  // What a mmap record says: the kernel writes one for the whole mapping when it is made, has grown
  // or gets another protection.
  struct Record {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t time_ns = 0;
    MemoryMap::Range range;
    std::uint64_t file_offset = 0;  // of range.start
    MemoryArea area;                // without its offset
  };

  void announce(const Record& record);

  // A call of one thread; time_ns is that of the entry or the exit.
  struct Task {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t time_ns = 0;
  };

  void begin(const Task& task, const SystemCallEntry& entry);
  void end(const Task& task, const SystemCallDone& done);

  // A child has its parent's mappings; copied when one of the two changes.
  void fork(std::uint32_t parent_pid, std::uint32_t pid);
  void exec(std::uint32_t pid);
  // The process's mappings stay for a while: samples of a dying task come after its exit.
  void exit(std::uint32_t pid, std::uint32_t tid);
  // Exits may have been lost.
  void forget_calls();

  // Null where nothing is known to be mapped; valid until the next change.
  const MemoryMap::Entry* find(std::uint32_t pid, std::uint64_t avma) const {
    const bool is_same = last_found_.entry != nullptr && pid == last_found_.pid &&
                         avma >= last_found_.entry->start && avma < last_found_.entry->limit;
    return is_same ? last_found_.entry : search(pid, avma);
  }

  // Null for a process of which nothing is known.
  const MemoryMap* of(std::uint32_t pid) const;

  // Where brk's heap ends: as the last brk(2) returned, else in whole pages; 0 when it is not
  // known.
  std::uint64_t heap_top(std::uint32_t pid) const;

  // visit(pid, map), in order of pids.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const auto& [pid, space] : spaces_) {
      if (space.map != nullptr) {
        visit(pid, *space.map);
      }
    }
  }

  // False for a recording of executable mappings only.
  bool has_data() const { return has_data_; }

 private:
  // A thread that is in a call that changes the address space.
  struct Call {
    std::uint32_t tid = 0;
    std::uint64_t time_ns = 0;
    SystemCallEntry entry;
    std::optional<MemoryMap::Entry> record;  // the last that the kernel wrote during the call
  };

  // Mapped while a thread was in a call that unmaps.
  struct Fresh {
    MemoryMap::Range range;
    std::uint64_t time_ns = 0;
  };

  struct Space {
    std::shared_ptr<MemoryMap> map;  // shared with relatives until one of them changes
    std::vector<Call> calls;
    std::vector<Fresh> fresh;
    std::uint64_t heap_top = 0;  // as brk returned last; 0: not known
    bool exited = false;
  };

  // What the arguments of mmap(2) say, for a recording without records of data mappings.
  static MemoryArea area_of(const SystemCallArguments& arguments);
  const MemoryMap::Entry* search(std::uint32_t pid, std::uint64_t avma) const;
  Space& space(std::uint32_t pid);
  static MemoryMap& own(Space& space);
  std::uint64_t whole_pages(std::uint64_t bytes) const;
  MemoryMap::Range range_of(std::uint64_t start, std::uint64_t bytes) const;
  static std::vector<MemoryMap::Range> kept_from(const Space& space, const Call& call);
  static void note_fresh(Space& space, MemoryMap::Range range, std::uint64_t time_ns);
  void end_mmap(Space& space, const Call& call, const SystemCallDone& done, std::uint64_t time_ns);
  void end_mremap(Space& space, const Call& call, const SystemCallDone& done);
  void end_brk(Space& space, const Call& call, const SystemCallDone& done);
  void change(Space& space, const Call& call, const SystemCallDone& done, std::uint64_t time_ns);

  // What find() found last: several views ask the same of an event, and a process's next fault is
  // mostly in the same mapping. Forgotten at every change.
  struct Found {
    std::uint32_t pid = 0;
    const MemoryMap::Entry* entry = nullptr;
  };

  std::uint64_t page_size_bytes_ = 0;
  mutable Found last_found_;
  std::map<std::uint32_t, Space> spaces_;
  std::deque<std::uint32_t> exited_;
  bool has_data_ = false;
};

}  // namespace memtrace
