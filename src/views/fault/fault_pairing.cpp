#include "views/fault/fault_pairing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <string_view>

#include "base/kernel_address.h"
#include "views/fault/fault_resident.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSmallestPageBytes = 4096;
constexpr std::uint64_t kPageTableEntryBytes = 8;
// For a program that reads an enormous table which is mostly empty; some 20 bytes each.
constexpr std::size_t kMaxZeroPages = 1'000'000;
constexpr std::string_view kPageAllocEvent = "kmem:mm_page_alloc";

std::uint64_t pending_key(std::uint32_t tid, bool in_kernel) {
  return (std::uint64_t{tid} << 1U) | (in_kernel ? 1U : 0U);
}

FaultEnd end_of(const PageFault& fault) {
  return fault.stage == FaultStage::Major ? FaultEnd::Major : FaultEnd::Minor;
}

}  // namespace

bool Fault::is_write() const {
  return entry.has_error_code && (entry.error_code & kFaultWrite) != 0;
}

bool Fault::is_present() const {
  return entry.has_error_code && (entry.error_code & kFaultPresent) != 0;
}

// Software events do not say so themselves, but the faulting instruction does.
bool is_of_kernel(const PageFault& fault) {
  return fault.in_kernel || fault.ip >= kFirstKernelAddress;
}

std::uint64_t page_of(const PageFault& fault) {
  return fault.address & ~(kSmallestPageBytes - 1);
}

std::uint32_t huge_page_order(std::uint64_t page_size_bytes) {
  const std::uint64_t pages = std::max(page_size_bytes / kPageTableEntryBytes, std::uint64_t{1});
  return static_cast<std::uint32_t>(std::bit_width(pages)) - 1;
}

void FaultPairing::check(const std::deque<EventType>& types) {
  for (const EventType& type : types) {
    seen_.page_allocs = seen_.page_allocs || type.name.starts_with(kPageAllocEvent);
  }
}

bool FaultPairing::on(const Event& event, const World& world) {
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    on_page_alloc(event, *alloc, world);
    return false;
  }
  if (const auto* signal = std::get_if<SignalSent>(&event.payload)) {
    on_signal(event, *signal);
    return false;
  }
  const auto* fault = std::get_if<PageFault>(&event.payload);
  if (fault == nullptr) {
    return false;
  }
  seen_.sampled = seen_.sampled || event.weight > 1;
  if (fault->stage == FaultStage::Entry) {
    on_entry(event, *fault, world);
  } else {
    on_end(event, *fault, world);
  }
  return true;
}

// In place: most events of a busy machine begin a fault.
void FaultPairing::begin(Fault& begun,
                         const Event& event,
                         const PageFault& fault,
                         const World& world) const {
  begun = {};
  begun.keys = keys_.of(event);
  begun.time_ns = event.time_ns;
  begun.pid = event.pid;
  begun.tid = event.tid;
  begun.comm = event.comm;
  begun.stack = keeps_stacks_ ? event.stack.id() : StackId();
  begun.code = event.call_site;
  begun.entry = fault;
  begun.place = place_of(world, event.pid, fault.address);
  begun.weight = event.weight;
  begun.sampling = event.sampling;
  begun.count = event.weight;
}

Fault FaultPairing::without_place(const Event& event) const {
  return {.keys = keys_.of(event),
          .time_ns = event.time_ns,
          .pid = event.pid,
          .tid = event.tid,
          .comm = event.comm};
}

void FaultPairing::on_entry(const Event& event, const PageFault& fault, const World& world) {
  const bool in_kernel = is_of_kernel(fault);
  seen_.entries[in_kernel ? 1 : 0] = true;
  seen_.error_codes = seen_.error_codes || fault.has_error_code;
  Pending& pending = pending_.try_emplace(pending_key(event.tid, in_kernel)).first.value();
  // The other of the two entry events, for the same page, with no end in between.
  const bool kind_seen = fault.has_error_code ? pending.exception_seen : pending.software_seen;
  const bool is_same =
      pending.is_open && page_of(pending.fault.entry) == page_of(fault) && !kind_seen;
  if (is_same && fault.has_error_code) {
    pending.fault.entry = fault;
  } else if (!is_same) {
    if (pending.is_open) {
      deliver_open(pending);
    }
    begin(pending.fault, event, fault, world);
    pending.is_open = true;
    pending.exception_seen = pending.software_seen = pending.reported = false;
  }
  (fault.has_error_code ? pending.exception_seen : pending.software_seen) = true;
}

void FaultPairing::on_end(const Event& event, const PageFault& fault, const World& world) {
  seen_.ends = true;
  const bool in_kernel = is_of_kernel(fault);
  const auto found = pending_.find(pending_key(event.tid, in_kernel));
  if (found == pending_.end() || !found->second.is_open ||
      page_of(found->second.fault.entry) != page_of(fault)) {
    Fault alone;
    begin(alone, event, fault, world);
    alone.end = end_of(fault);
    // When both are sampled on their own, an end without its entry is a fault that the sampled
    // entries already represent.
    if (seen_.sampled && seen_.entries[in_kernel ? 1 : 0]) {
      alone.count = 0;
    }
    on_fault_(alone);
    return;
  }
  Pending& pending = found.value();
  Fault& ended = pending.fault;
  ended.end = end_of(fault);
  ended.count = pending.reported ? 0 : ended.weight;
  if (event.time_ns >= ended.time_ns) {
    ended.latency_ns = event.time_ns - ended.time_ns;
  }
  // The stack's mapping grows while the fault is handled.
  if (!ended.place.is_known()) {
    ended.place = place_of(world, event.pid, fault.address);
  }
  note_zero_page(ended);
  ended.resident_bytes = resident_bytes(ended, world.page_size_bytes());
  on_fault_(ended);
  pending.is_open = false;
  if (pending_.size() >= forget_at_) {
    forget_ended();
  }
}

// A thread's next fault takes the memory of its last one, but threads end.
void FaultPairing::forget_ended() {
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    entry = entry->second.is_open ? std::next(entry) : pending_.erase(entry);
  }
  forget_at_ = std::max(kFewThreads, 2 * pending_.size());
}

void FaultPairing::on_page_alloc(const Event& event, const PageAlloc& alloc, const World& world) {
  seen_.page_allocs = true;
  const bool is_huge = alloc.order >= huge_page_order(world.page_size_bytes());
  const bool is_large = alloc.like_huge_page && alloc.order >= kSmallestFolioOrder;
  Fault* fault = is_huge || is_large ? newest(event.tid) : nullptr;
  if (fault == nullptr) {
    return;
  }
  if (is_huge) {
    ++(alloc.failed ? fault->huge_failures : fault->huge_pages);
  }
  if (!alloc.failed) {
    fault->folio_bytes = std::max(fault->folio_bytes, world.page_size_bytes() << alloc.order);
  }
}

// The kernel sends SIGSEGV and SIGBUS to the thread itself before it leaves the fault, and what it
// kills within a fault is killed for want of memory (mm/oom_kill.c).
void FaultPairing::on_signal(const Event& event, const SignalSent& signal) {
  Fault* fault = newest(event.tid);
  if (fault == nullptr) {
    return;
  }
  const bool is_own = signal.pid == event.tid;
  if (is_own && (signal.signal == SIGBUS || signal.signal == SIGSEGV)) {
    fault->signal = signal.signal;
  }
  fault->out_of_memory = fault->out_of_memory || signal.signal == SIGKILL;
}

// A read of memory without a file that was never written maps the one page of zeros (mm/memory.c,
// do_anonymous_page); the write that comes later finds a page there and gets one of its own.
void FaultPairing::note_zero_page(Fault& ended) {
  if (!keeps_zero_pages_ || !ended.entry.has_error_code || !ended.place.is_anonymous()) {
    return;
  }
  const std::uint64_t page = page_of(ended.entry);
  const bool is_zero_read = !ended.is_write() && !ended.is_present() &&
                            ended.end == FaultEnd::Minor && ended.folio_bytes == 0;
  if (is_zero_read && zero_page_count_ < kMaxZeroPages) {
    zero_page_count_ += zero_pages_[ended.pid].insert(page).second ? 1 : 0;
  }
  if (is_zero_read || zero_page_count_ == 0) {
    return;
  }
  const auto known = zero_pages_.find(ended.pid);
  if (known != zero_pages_.end() && known->second.erase(page) > 0) {
    --zero_page_count_;
    ended.of_zero_page = ended.is_write() && ended.is_present();
  }
}

Fault* FaultPairing::newest(std::uint32_t tid) {
  const auto of_user = pending_.find(pending_key(tid, false));
  const auto of_kernel = pending_.find(pending_key(tid, true));
  const auto open_in = [this](auto found) {
    return found == pending_.end() || !found->second.is_open ? nullptr : &found.value().fault;
  };
  Fault* user = open_in(of_user);
  Fault* kernel = open_in(of_kernel);
  if (user == nullptr || kernel == nullptr) {
    return user == nullptr ? kernel : user;
  }
  return kernel->time_ns >= user->time_ns ? kernel : user;
}

void FaultPairing::deliver_open(Pending& pending) {
  if (!pending.reported) {
    on_fault_(pending.fault);
  }
}

void FaultPairing::report_failed() {
  for (auto entry = pending_.begin(); entry != pending_.end(); ++entry) {
    if (entry->second.is_open && entry->second.fault.signal != 0) {
      deliver_open(entry.value());
      entry.value().reported = true;
    }
  }
}

void FaultPairing::report_open() {
  for (auto entry = pending_.begin(); entry != pending_.end(); ++entry) {
    if (entry->second.is_open) {
      deliver_open(entry.value());
      entry.value().reported = true;
    }
  }
}

bool is_fault_event(const EventType& type) {
  constexpr auto kNames = std::to_array<std::string_view>({"exceptions:page_fault_user",
                                                           "exceptions:page_fault_kernel",
                                                           "page-faults",
                                                           "minor-faults",
                                                           "major-faults"});
  return std::ranges::find(kNames, type.name) != kNames.end();
}

}  // namespace memtrace
