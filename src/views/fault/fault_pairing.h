// Page faults, each put together from the events of its thread: what all views of faults count.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/hash_map.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/fault/fault_place.h"
#include "views/kit/keys.h"

namespace memtrace {

// Open: no event has shown yet how the fault ended.
enum class FaultEnd : std::uint8_t { Open, Minor, Major };

struct Fault {
  KeyWords keys;              // of the entry, by the keys that any event has
  std::uint64_t time_ns = 0;  // of the entry, or of the end when there was no entry
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId comm;
  StackId stack;     // none unless it is listed
  LocationId code;   // that faulted; none unless each fault is listed
  PageFault entry;   // the entry of a fault
  FaultPlace place;  // the mapping that the address is in
  FaultEnd end = FaultEnd::Open;
  std::optional<std::uint64_t> latency_ns;  // from the entry to the end
  std::uint64_t weight = 1;
  Sampling sampling;
  std::uint64_t count = 1;  // how many faults it adds: its weight, or 0 when it was counted before
  std::uint32_t huge_pages = 0;     // allocated by its thread during the fault
  std::uint32_t huge_failures = 0;  // allocations that failed
  // Of the largest folio that its thread allocated during the fault; 0: none but single pages.
  std::uint64_t folio_bytes = 0;
  std::int32_t signal = 0;           // that its thread got for it
  bool out_of_memory = false;        // it made the kernel kill a process
  bool of_zero_page = false;         // a write to a page that was only read before
  std::uint64_t resident_bytes = 0;  // views/fault/fault_resident.h

  bool is_write() const;
  bool is_present() const;  // the page was there: the access was not allowed
};

// Taken by kernel code, copying from or to user memory mostly.
bool is_of_kernel(const PageFault& fault);

// The address of the page, of the smallest page size there is.
std::uint64_t page_of(const PageFault& fault);

// Pages of a huge page as an order: the page tables' second lowest level maps this many at once.
std::uint32_t huge_page_order(std::uint64_t page_size_bytes);

// What a recording has about its faults.
struct FaultEvents {
  bool sampled = false;  // one in N: entries and ends do not belong together
  bool ends = false;
  bool error_codes = false;
  bool page_allocs = false;
  std::array<bool, 2> entries{};  // of user mode, of kernel mode

  bool any() const { return ends || entries[0] || entries[1]; }
};

// One fault is up to three events of one thread, of which it makes one Fault:
//
//   exceptions:page_fault_user   entry: error code          (x86, riscv)
//   page-faults                  entry: address alone       (every kernel)
//   kmem:mm_page_alloc           in between: a huge page, or a smaller large folio
//   signal:signal_generate       in between: it fails with SIGSEGV or SIGBUS, or a process is
//                                killed to get memory for it
//   minor-faults | major-faults  end; none when it failed   (every kernel)
//
// A fault that the kernel tries again inside (VM_FAULT_RETRY) has one entry and one end
// (mm/memory.c, mm_account_fault). Kernel code that copies from or to user memory may fault while a
// fault of user code is under way, so a thread has one of either at a time.
class FaultPairing {
 public:
  using OnFault = std::function<void(const Fault& fault)>;

  // `keys` are asked of each entry. on_fault gets each fault when its end is there, or when it is
  // clear that there will be none.
  FaultPairing(KeySet keys, OnFault on_fault)
      : keys_(std::move(keys)), on_fault_(std::move(on_fault)) {}

  void check(const std::deque<EventType>& types);

  // For lists of faults that show stacks: else Fault::stack is none, and is not made.
  void keep_stacks() { keeps_stacks_ = true; }

  // For views that show no classes: Fault::of_zero_page stays false.
  void ignore_zero_pages() { keeps_zero_pages_ = false; }

  // True for an event of a page fault. Events during a fault are used, too.
  bool on(const Event& event, const World& world);

  // The faults under way go to on_fault as they are: they began in this interval. Once more when
  // they end, with a count of 0.
  void report_open();

  // The same of those that got a signal: a handler, or the end of the process, follows.
  void report_failed();

  // The fault that the thread is in, as far as it is known; null when there is none. Valid until
  // the next event.
  Fault* newest(std::uint32_t tid);

  // What happened outside of faults, for rows by the same keys.
  Fault without_place(const Event& event) const;

  const FaultEvents& seen() const { return seen_; }

 private:
  static constexpr std::size_t kFewThreads = 1024;

  // The newest entry of a thread.
  struct Pending {
    Fault fault;
    bool is_open = false;  // else it has ended, and only its memory is kept
    bool exception_seen = false;
    bool software_seen = false;
    bool reported = false;
  };

  void on_entry(const Event& event, const PageFault& fault, const World& world);
  void on_end(const Event& event, const PageFault& fault, const World& world);
  void on_page_alloc(const Event& event, const PageAlloc& alloc, const World& world);
  void on_signal(const Event& event, const SignalSent& signal);
  void note_zero_page(Fault& ended);
  void begin(Fault& begun, const Event& event, const PageFault& fault, const World& world) const;
  void forget_ended();
  void deliver_open(Pending& pending);

  KeySet keys_;
  OnFault on_fault_;
  HashMap<std::uint64_t, Pending> pending_;  // by tid and mode, also ended ones
  std::size_t forget_at_ = kFewThreads;      // of pending_: only the open ones stay
  std::map<std::uint32_t, HashSet<std::uint64_t>> zero_pages_;  // by pid: pages
  std::size_t zero_page_count_ = 0;
  bool keeps_zero_pages_ = true;
  bool keeps_stacks_ = false;
  FaultEvents seen_;
};

// The events that make a fault.
bool is_fault_event(const EventType& type);

}  // namespace memtrace
