// Spine 5: processes, address spaces, stacks and live blocks as of the current event. Changed by
// apply() alone; views see it const.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/interner.h"
#include "state/heap/heap_blocks.h"
#include "state/heap/heap_calls.h"
#include "state/heap/heap_entries.h"
#include "state/heap/heap_names.h"
#include "state/heap/live_blocks.h"
#include "state/heap/mapped_blocks.h"
#include "state/mapping/anonymous_memory.h"
#include "state/mapping/map_call.h"
#include "state/mapping/memory_maps.h"
#include "state/mapping/system_calls.h"
#include "state/process/identity_table.h"
#include "state/process/module_table.h"
#include "state/process/process_table.h"
#include "state/process/stack_table.h"
#include "state/world/kernel_work.h"
#include "state/world/observations.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// Which part of each stack is kept.
enum class StackPart : std::uint8_t { Whole, Kernel, User };

class World {
 public:
  struct Options {
    StackPart part = StackPart::Whole;
    bool keep_stacks = true;         // else only the places in code that they are made of
    bool track_live_blocks = false;  // costs memory for every live block: only when a view needs it
    bool track_mappings = false;     // likewise for every mapping
    bool keep_code_of_faults = false;  // Event::call_site of page faults
    bool track_heap_mappings = false;  // what programs map themselves is part of their heap
    std::uint64_t page_size_bytes = 4096;
  };

  explicit World(Options options);

  // What a mmap record says; file_offset is of `start`.
  struct NewMapping {
    std::uint32_t pid = 0;
    AddressSpace::Range range;
    std::uint64_t file_offset = 0;
    Module module;
  };

  void map(const NewMapping& mapping);

  bool tracks_mappings() const { return options_.track_mappings; }

  // The same for the table of all mappings; nothing happens unless they are tracked.
  void announce(const MemoryMaps::Record& record);

  // Who can tell whether a stack goes through an allocator; asked of mappings that seem to be the
  // program's own.
  void set_allocator_test(std::function<bool(StackId)> is_in_allocator) {
    is_in_allocator_ = std::move(is_in_allocator);
  }

  // All mappings of all processes.
  const MemoryMaps& memory_maps() const { return memory_maps_; }

  // What an address of a process lies in.
  struct FoundArea {
    MemoryArea area;
    std::uint64_t start = 0, limit = 0;
    std::uint64_t file_offset = 0;  // of the address; 0 where there is no file
  };

  // Nothing where nothing is known to be mapped, or when mappings are not tracked.
  std::optional<FoundArea> find(std::uint32_t pid, std::uint64_t avma) const;

  // Where the kernel lay when the recording was made: a symbol and its address. KASLR puts it
  // elsewhere at each boot.
  struct KernelPlace {
    std::string symbol;  // "_text" or "_stext"; "" when the recording does not say
    std::uint64_t avma = 0;
  };

  void note_kernel_place(KernelPlace place) { kernel_place_ = std::move(place); }

  const KernelPlace& kernel_place() const { return kernel_place_; }

  // By how much each of /proc/vmstat's counters grew on the whole machine in the time that is being
  // reported; one that is missing did not grow. Empty: not known.
  using VmstatGrowth = std::map<std::string, std::uint64_t>;

  void note_vmstat_growth(VmstatGrowth growth) { vmstat_growth_ = std::move(growth); }

  const VmstatGrowth& vmstat_growth() const { return vmstat_growth_; }

  void fork(const ProcessTable::ForkedTask& task);
  void exec(std::uint32_t pid);
  void exit(std::uint32_t pid, std::uint32_t tid);

  ProcessTable& processes() { return processes_; }

  const ProcessTable& processes() const { return processes_; }

  // From now on the process is of this user and cgroup.
  void identify(std::uint32_t pid, IdentityId identity);

  // None when nothing was ever learnt of the process or its parents; parts of it may be unknown.
  IdentityId identity_of(std::uint32_t pid) const;

  IdentityTable& identities() { return identities_; }

  const IdentityTable& identities() const { return identities_; }

  StringTable& strings() { return strings_; }

  const StringTable& strings() const { return strings_; }

  const ModuleTable& modules() const { return modules_; }

  ModuleTable& modules() { return modules_; }

  const StackTable& stacks() const { return stacks_; }

  const LiveBlocks& live() const { return live_; }

  const HeapBlocks& heap() const { return heap_; }

  // What programs mapped themselves, without the help of an allocator.
  const MappedBlocks& mapped() const { return mapped_; }

  struct MappedChange {
    std::optional<LiveBlock> made;  // bytes_req: what was asked for
    MappedBlocks::Pieces gone;
  };

  // What the current event changed of that; null for most events.
  const MappedChange* mapped_change() const { return mapped_change_ ? &*mapped_change_ : nullptr; }

  // What programs took from the kernel, if the recording has the system calls.
  const KernelMemory& kernel_memory() const { return kernel_memory_; }

  // What /proc said when an event happened.
  const Observations& observations() const { return observations_; }

  Observations& observations() { return observations_; }

  // What happened before this time builds up the state and is not counted in reports.
  void count_from(std::uint64_t time_ns) { counted_from_ns_ = time_ns; }

  std::uint64_t counted_from_ns() const { return counted_from_ns_; }

  // Reclaim, compaction and the like that have begun and not ended yet.
  const KernelWork& kernel_work() const { return kernel_work_; }

  std::uint64_t page_size_bytes() const { return options_.page_size_bytes; }

  // The stack of a sample of process `pid`: its callchain with markers, innermost first. Chains
  // that were seen before cost one hash.
  StackId intern_stack(std::uint32_t pid, std::span<const std::uint64_t> callchain);

  LocationId intern_kernel_address(std::uint64_t avma);   // of a call: a return address
  LocationId intern_kernel_function(std::uint64_t avma);  // its entry
  // Of process `pid` or the kernel; none where there is no code.
  LocationId intern_instruction(std::uint32_t pid, std::uint64_t avma);

  // Fills in what only the world knows (comm, identity, call_site, cache, freed) and tracks live
  // blocks. The event's `freed` and `replaced` point into the world until the next apply().
  void apply(Event& event);

  // Events are missing: calls that have begun may have returned.
  void note_loss() {
    heap_calls_.forget_all();
    heap_entries_.forget_all();
    system_calls_.clear();
    memory_maps_.forget_calls();
    kernel_work_.forget_all();
  }

  // Frees of blocks that were allocated before the recording began.
  std::uint64_t unmatched_frees() const { return unmatched_frees_; }

 private:
  void apply_slab_alloc(Event& event, const SlabAlloc& alloc);
  void apply_slab_free(Event& event, const SlabFree& free);
  void apply_page_alloc(Event& event, const PageAlloc& alloc);
  LiveBlock block_of(const Event& event) const;
  bool wanted(bool user) const;
  void apply_heap_call(Event& event, const HeapCall& call);
  void apply_heap_free(Event& event, const HeapCall& call);
  void apply_heap_return(Event& event, const HeapReturn& ended);
  void finish_heap_call(Event& event, const HeapReturn& ended, PendingCall& pending);
  void apply_call_entry(const Event& event, const SystemCallEntry& entry);
  void apply_call_exit(Event& event, const SystemCallExit& ended);
  bool apply_kernel_event(Event& event);
  void note_freed(Event& event, std::optional<LiveBlock> block);
  void apply_heap_mapping(const Event& event, const Map& map);
  bool is_of_program(const Event& event) const;
  bool is_of_loader(StackId stack) const;
  LiveBlock mapped_block(const Event& event, std::string_view function);
  void make_live(Event& event, const LiveBlock& block);
  StackId translate(const Process& process, std::span<const std::uint64_t> callchain);

  Options options_;
  std::uint64_t counted_from_ns_ = 0;
  KernelPlace kernel_place_;
  VmstatGrowth vmstat_growth_;
  StringTable strings_;
  ModuleTable modules_;
  ProcessTable processes_;
  IdentityTable identities_;
  IdentityId idle_identity_;
  const Process* last_process_ = nullptr;  // of the last event; processes are never taken away
  StackTable stacks_;
  LiveBlocks live_;
  HeapBlocks heap_;
  HeapCalls heap_calls_;
  HeapEntries heap_entries_;
  HeapNames heap_names_;
  MappedBlocks mapped_;
  std::optional<MappedChange> mapped_change_;
  std::unordered_map<std::uint32_t, StackId> heap_callers_;  // by tid: of the last heap call
  std::function<bool(StackId)> is_in_allocator_;
  bool has_calls_ = true;  // false: only returns of allocators are probed
  KernelMemory kernel_memory_;
  SystemCalls system_calls_;
  MemoryMaps memory_maps_;
  Observations observations_;
  KernelWork kernel_work_;

  struct FreedAddress {
    std::uint32_t tid = 0;
    std::uint64_t address = 0;
  };

  // The last free of each thread, in a place by its tid: one that another thread takes is
  // forgotten.
  std::array<FreedAddress, 256> last_freed_ = {};
  tsl::robin_map<std::uint64_t, StackId> known_chains_;
  tsl::robin_map<std::uint64_t, LocationId> kernel_locations_;
  tsl::robin_map<std::uint64_t, LocationId> kernel_functions_;
  std::vector<LocationId> frames_;  // of translate(), kept to save an allocation for each stack
  std::optional<LiveBlock> freed_;
  std::optional<LiveBlock> replaced_;
  std::uint64_t unmatched_frees_ = 0;
};

}  // namespace memtrace
