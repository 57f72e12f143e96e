// What each thread is doing when the resident size of an address space changes: it is in a page
// fault, in a system call, or in neither. kmem:rss_stat says how much there is, and not why.
//
//   page_fault_user X    rss_stat +4 KiB    minor-faults X      first touch of X
//   sys_enter_munmap     rss_stat -2 MiB    sys_exit_munmap     unmapped
#pragma once

#include <cstdint>
#include <optional>

#include "base/hash_map.h"
#include "tracepoints/event/event.h"
#include "views/fault/fault_place.h"
#include "views/resident/rss_change.h"
#include "views/resident/rss_place.h"

namespace memtrace {

struct ThreadAct {
  enum class In : std::uint8_t { Nothing, Fault, Call };

  In in = In::Nothing;
  RssPlace place;  // of the fault's address, or of the range of the call

  // In a fault.
  PlaceKind kind = PlaceKind::Unknown;
  bool is_copy = false;                     // of a page of a file
  bool has_file_page = false;               // the fault has mapped one
  std::optional<RssChange> anonymous = {};  // what its last change of anonymous memory was
  std::int64_t anonymous_bytes = 0;

  // In neither: the kernel's own access takes the page of a file away before it adds the copy
  // (mm/memory.c, wp_page_copy), as for futex(2).
  bool has_dropped_page = false;

  // In a call.
  SystemCall call = SystemCall::Other;
};

class ThreadActs {
 public:
  // Events of faults and calls; others change nothing.
  void on(const Event& event, const World& world);

  // Valid until the next event.
  ThreadAct& of(std::uint32_t tid) { return acts_[tid].current(); }

 private:
  // Kernel code that copies to user memory faults within its call.
  struct Acts {
    ThreadAct call;
    ThreadAct fault;

    ThreadAct& current() { return fault.in == ThreadAct::In::Fault ? fault : call; }
  };

  void begin_fault(const Event& event, const PageFault& fault, const World& world);
  void begin_call(const Event& event, const SystemCallEntry& entry, const World& world);
  void forget_idle();

  HashMap<std::uint32_t, Acts> acts_;  // by tid
  std::size_t forget_at_ = 4096;
};

}  // namespace memtrace
