// Spine 5: processes, address spaces, stacks and live blocks as of the current event. Records
// change it by map(), fork(), exec(), exit() and identify(), events by apply(). Views see it const.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/interner.h"
#include "state/heap/heap_state.h"
#include "state/heap/kernel_blocks.h"
#include "state/heap/program_mappings.h"
#include "state/mapping/call_state.h"
#include "state/process/code_tables.h"
#include "state/process/identity_table.h"
#include "state/process/process_table.h"
#include "state/process/stack_interner.h"
#include "state/world/folio_orders.h"
#include "state/world/folio_sizes.h"
#include "state/world/kernel_work.h"
#include "state/world/observations.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class World {
 public:
  struct Options {
    StackPart part = StackPart::Whole;
    StackUse stacks = StackUse::Stacks;
    bool track_live_blocks = false;  // costs memory for every live block: only when a view needs it
    bool track_mappings = false;     // the same for every mapping
    bool keep_code_of_faults = false;  // Event::call_site of page faults
    bool track_first_touches = false;  // the same for every page
    bool track_heap_mappings = false;  // what programs map themselves is part of their heap
    std::uint64_t page_size_bytes = 4096;
  };

  // Another thread may use the same tables of code.
  explicit World(Options options,
                 std::shared_ptr<CodeTables> code = std::make_shared<CodeTables>());
  World(const World&) = delete;  // its parts refer to each other
  World& operator=(const World&) = delete;
  World(World&&) = delete;
  World& operator=(World&&) = delete;
  ~World() = default;

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

  // Decides whether a stack goes through an allocator; asked for mappings that seem to be the
  // program's own.
  void set_allocator_test(std::function<bool(StackId)> is_in_allocator) {
    program_mappings_.set_allocator_test(std::move(is_in_allocator));
  }

  // All mappings of all processes.
  const MemoryMaps& memory_maps() const { return calls_.memory_maps(); }

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

  void note_kernel_place(KernelPlace place) { facts_.kernel_place = std::move(place); }

  const KernelPlace& kernel_place() const { return facts_.kernel_place; }

  // By how much each of /proc/vmstat's counters grew on the whole machine in the time that is being
  // reported; one that is missing did not grow. Empty: not known.
  using VmstatGrowth = std::map<std::string, std::uint64_t>;

  void note_vmstat_growth(VmstatGrowth growth) { facts_.vmstat_growth = std::move(growth); }

  const VmstatGrowth& vmstat_growth() const { return facts_.vmstat_growth; }

  // Events of memtrace itself that were left out of the recording, by name.
  using OwnEvents = std::map<std::string, std::uint64_t>;

  void note_own_events(OwnEvents events) { facts_.own_events = std::move(events); }

  // Nothing: not known.
  std::optional<std::uint64_t> own_events(const std::string& name) const {
    const auto found = facts_.own_events.find(name);
    return found == facts_.own_events.end() ? std::nullopt : std::optional(found->second);
  }

  // Whether the events are those of the whole machine over that time.
  void note_all_events(bool are_all) { facts_.are_all_events = are_all; }

  // Null: not known, or of more than the events are of.
  const VmstatGrowth* growth_beside_events() const {
    return facts_.are_all_events && !facts_.vmstat_growth.empty() ? &facts_.vmstat_growth : nullptr;
  }

  void fork(const ProcessTable::ForkedTask& task);
  void exec(std::uint32_t pid);
  void exit(std::uint32_t pid, std::uint32_t tid);

  ProcessTable& processes() { return processes_; }

  const ProcessTable& processes() const { return processes_; }

  // From now on the process is of this user and cgroup.
  void identify(std::uint32_t pid, IdentityId identity);

  // What /proc said of the process as it is now: its parent, 0 if there is none, and its arguments,
  // "" for a kernel thread.
  void describe(std::uint32_t pid, std::uint32_t parent_pid, std::string_view command);

  // None when nothing was ever learnt of the process or its parents; parts of it may be unknown.
  IdentityId identity_of(std::uint32_t pid) const;

  IdentityTable& identities() { return identities_; }

  const IdentityTable& identities() const { return identities_; }

  StringTable& strings() { return strings_; }

  const StringTable& strings() const { return strings_; }

  const ModuleTable& modules() const { return code_->modules; }

  ModuleTable& modules() { return code_->modules; }

  // Another thread may be ahead: modules behind this one are of records that are still to come.
  ModuleId last_module() const { return facts_.last_module; }

  const std::shared_ptr<CodeTables>& code() const { return code_; }

  const StackTable& stacks() const { return code_->stacks; }

  const LiveBlocks& live() const { return kernel_blocks_.live(); }

  const HeapBlocks& heap() const { return heap_.blocks(); }

  // What programs mapped themselves, without the help of an allocator.
  const MappedBlocks& mapped() const { return program_mappings_.blocks(); }

  using MappedChange = ProgramMappings::Change;

  // What the current event changed of that; null for most events.
  const MappedChange* mapped_change() const { return program_mappings_.change(); }

  // What programs took from the kernel, if the recording has the system calls.
  const KernelMemory& kernel_memory() const { return calls_.kernel_memory(); }

  // Which code touched the pages of processes first; nothing unless it is tracked.
  const FirstTouches& first_touches() const { return calls_.first_touches(); }

  // What /proc said when an event happened.
  const Observations& observations() const { return observations_; }

  Observations& observations() { return observations_; }

  // What happened before this time builds up the state and is not counted in reports.
  void count_from(std::uint64_t time_ns) { facts_.counted_from_ns = time_ns; }

  std::uint64_t counted_from_ns() const { return facts_.counted_from_ns; }

  // Reclaim, compaction and the like that have begun and not ended yet.
  const KernelWork& kernel_work() const { return kernel_.work; }

  std::uint64_t page_size_bytes() const { return options_.page_size_bytes; }

  // The stack of a sample of process `pid`: its callchain with markers, innermost first. Chains
  // that were seen before cost one hash.
  StackId intern_stack(std::uint32_t pid, std::span<const std::uint64_t> callchain) {
    return stacks_.intern(pid, callchain);
  }

  StackPart stack_part() const { return options_.part; }

  // Else it only looks at the places that they are made of, or at nothing.
  bool makes_stacks() const { return options_.stacks == StackUse::Stacks; }

  LocationId intern_kernel_address(std::uint64_t avma) { return stacks_.kernel_address(avma); }

  // Fills in what only the world knows (comm, identity, call_site, cache, freed), tracks live
  // blocks and completes what was decoded: an end is paired with its begin. The event's `freed` and
  // `replaced` point into the world until the next apply().
  void apply(Event& event, const RawPayload& decoded);

  // Events from before this time are missing: calls that have begun may have returned.
  void note_loss(std::uint64_t time_ns);

  // 0: no events are missing so far.
  std::uint64_t last_loss_ns() const { return facts_.last_loss_ns; }

  // Frees of blocks that were allocated before the recording began.
  std::uint64_t unmatched_frees() const {
    return kernel_blocks_.unmatched_frees() + heap_.unmatched_frees();
  }

 private:
  // What is known of the recording as a whole.
  struct Facts {
    std::uint64_t counted_from_ns = 0;
    std::uint64_t last_loss_ns = 0;
    ModuleId last_module;
    KernelPlace kernel_place;
    VmstatGrowth vmstat_growth;
    OwnEvents own_events;
    bool are_all_events = false;
  };

  // Of the kernel itself, and of no process.
  struct KernelState {
    KernelWork work;
    FolioSizes folio_sizes;
    FolioOrders folio_orders;
  };

  void apply_slab_alloc(Event& event, const SlabAlloc& alloc);
  void apply_slab_free(Event& event, const SlabFree& free);
  void apply_call_exit(Event& event, const SystemCallExit& ended);
  bool apply_user_event(Event& event, const RawPayload& decoded);
  bool apply_allocation(Event& event);
  bool apply_work(Event& event, const RawPayload& decoded);
  bool apply_part_of_reclaim(Event& event);
  bool apply_cached_page(Event& event);
  void apply_label(Event& event);
  void complete(Event& event, const RawPayload& decoded);

  Options options_;
  Facts facts_;
  StringTable strings_;
  std::shared_ptr<CodeTables> code_;
  ProcessTable processes_;
  IdentityTable identities_;
  IdentityId idle_identity_;
  const Process* last_process_ = nullptr;  // of the last event; processes are never taken away
  StackInterner stacks_;
  KernelBlocks kernel_blocks_;
  HeapState heap_;
  ProgramMappings program_mappings_;
  CallState calls_;
  Observations observations_;
  KernelState kernel_;
};

}  // namespace memtrace
