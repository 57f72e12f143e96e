#include "state/world/world.h"

#include "base/hash.h"

namespace memtrace {
namespace {

// Callchain markers: include/uapi/linux/perf_event.h, enum perf_callchain_context.
constexpr std::uint64_t kFirstMarker = 0xfffffffffffff001U;  // PERF_CONTEXT_MAX, -4095
constexpr std::uint64_t kKernelMarker = 0xffffffffffffff80U;
constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;
// Without a marker: the upper half of the address space is the kernel's on every 64-bit machine.
constexpr std::uint64_t kFirstKernelAddress = 0x8000000000000000U;

// The table of known chains is only a cache: when it has grown so large, it starts again.
constexpr std::size_t kMostKnownChains = 1U << 20U;

enum class Context { ByAddress, Kernel, User, Other };

Context context_of(std::uint64_t marker) {
  if (marker == kKernelMarker) {
    return Context::Kernel;
  }
  return marker == kUserMarker ? Context::User : Context::Other;
}

bool is_user_frame(Context context, std::uint64_t address) {
  return context == Context::User ||
         (context == Context::ByAddress && address < kFirstKernelAddress);
}

}  // namespace

World::World(Options options)
    : options_(options), live_(options.page_size_bytes), memory_maps_(options.page_size_bytes) {}

void World::map(const NewMapping& mapping) {
  const ModuleId module = modules_.intern(mapping.module);
  std::uint64_t offset = mapping.file_offset;
  if (mapping.module.kind == ModuleKind::Anonymous) {
    offset = mapping.range.start;  // CodeLocation: anonymous code is known by its address
  } else if (mapping.module.kind == ModuleKind::Vdso) {
    offset = 0;  // perf reports the vdso's own address as its file offset
  }
  processes_.process(mapping.pid).space.map(mapping.range, {module, offset - mapping.range.start});
}

StackId World::intern_stack(std::uint32_t pid, std::span<const std::uint64_t> callchain) {
  if (callchain.empty()) {
    return {};
  }
  const Process& process = processes_.process(pid);
  const std::uint64_t key =
      hash_words(callchain, combine(process.serial, process.space.generation()));
  if (const auto known = known_chains_.find(key); known != known_chains_.end()) {
    return known->second;
  }
  if (known_chains_.size() >= kMostKnownChains) {
    known_chains_.clear();
  }
  const StackId stack = translate(process, callchain);
  known_chains_.emplace(key, stack);
  return stack;
}

StackId World::translate(const Process& process, std::span<const std::uint64_t> callchain) {
  frames_.clear();
  Context context = Context::ByAddress;
  bool innermost = true;  // of its context: the interrupted instruction, not a return address
  for (const std::uint64_t address : callchain) {
    if (address >= kFirstMarker) {
      context = context_of(address);
      innermost = true;
      continue;
    }
    const bool user = is_user_frame(context, address);
    if (context != Context::Other && wanted(user)) {
      const CodeLocation location = user ? process.space.locate(address, !innermost)
                                         : CodeLocation{modules_.kernel(), !innermost, address};
      // An address outside of every mapping is no code: the frame-pointer chain ran into a
      // register that held something else. What follows is noise, unlike for each call.
      if (user && !location.module.valid()) {
        frames_.push_back(stacks_.intern(CodeLocation{}));
        break;
      }
      frames_.push_back(stacks_.intern(location));
    }
    innermost = false;
  }
  return options_.keep_stacks ? stacks_.intern(frames_) : StackId{};
}

bool World::wanted(bool user) const {
  return options_.part == StackPart::Whole || (options_.part == StackPart::User) == user;
}

LocationId World::intern_kernel_address(std::uint64_t avma) {
  if (avma == 0) {
    return {};
  }
  const auto known = kernel_locations_.find(avma);
  if (known != kernel_locations_.end()) {
    return known->second;
  }
  const LocationId location = stacks_.intern(CodeLocation{modules_.kernel(), true, avma});
  kernel_locations_.emplace(avma, location);
  return location;
}

LocationId World::intern_instruction(std::uint32_t pid, std::uint64_t avma) {
  const bool is_user = is_user_frame(Context::ByAddress, avma);
  const CodeLocation location = is_user ? processes_.process(pid).space.locate(avma, false)
                                        : CodeLocation{modules_.kernel(), false, avma};
  return avma != 0 && location.module.valid() ? stacks_.intern(location) : LocationId();
}

void World::identify(std::uint32_t pid, IdentityId identity) {
  if (pid != 0) {
    processes_.process(pid).identity = identity;
  }
  // The idle task, in whose name interrupts allocate, is root's in the root cgroup
  // (init/init_task.c) and has no folder in /proc.
  idle_identity_ = identities_.intern(0, "/");
}

IdentityId World::identity_of(std::uint32_t pid) const {
  if (pid == 0) {
    return idle_identity_;
  }
  const Process* process = processes_.find(pid);
  return process == nullptr ? IdentityId() : process->identity;
}

void World::apply(Event& event) {
  event.comm = processes_.comm(event.pid, event.tid);
  if (last_process_ == nullptr || last_process_->pid != event.pid) {
    last_process_ = processes_.find(event.pid);
  }
  event.identity =
      event.pid != 0 && last_process_ != nullptr ? last_process_->identity : identity_of(event.pid);
  event.freed = nullptr;
  mapped_change_.reset();
  event.replaced = nullptr;
  if (event.type != nullptr && !event.type->probe.empty()) {
    event.function = heap_names_.of(*event.type, strings_).function;
    event.call_site = stacks_.caller(event.stack);
  }
  if (const auto* slab = std::get_if<SlabAlloc>(&event.payload)) {
    apply_slab_alloc(event, *slab);
  } else if (const auto* free = std::get_if<SlabFree>(&event.payload)) {
    apply_slab_free(event, *free);
  } else if (const auto* call = std::get_if<HeapCall>(&event.payload)) {
    apply_heap_call(event, *call);
  } else if (const auto* ended = std::get_if<HeapReturn>(&event.payload)) {
    apply_heap_return(event, *ended);
  } else if (const auto* again = std::get_if<HeapAgain>(&event.payload)) {
    heap_entries_.expect_again(event.tid, heap_names_.of(*event.type, strings_).call, again->bytes);
  } else if (const auto* entry = std::get_if<SystemCallEntry>(&event.payload)) {
    apply_call_entry(event, *entry);
  } else if (const auto* call_ended = std::get_if<SystemCallExit>(&event.payload)) {
    apply_call_exit(event, *call_ended);
  } else if (const auto* fault = std::get_if<PageFault>(&event.payload)) {
    event.call_site =
        options_.keep_code_of_faults ? intern_instruction(event.pid, fault->ip) : LocationId();
  } else if (apply_kernel_event(event)) {
    return;
  } else if (!options_.track_live_blocks) {
    return;
  } else if (const auto* pages = std::get_if<PageAlloc>(&event.payload)) {
    apply_page_alloc(event, *pages);
  } else if (const auto* page_free = std::get_if<PageFree>(&event.payload)) {
    note_freed(event, live_.free_pages(*page_free));
  }
}

LiveBlock World::block_of(const Event& event) const {
  LiveBlock block;
  block.time_ns = event.time_ns;
  block.pid = event.pid;
  block.tid = event.tid;
  block.cpu = event.cpu;
  block.comm = event.comm;
  block.cache = event.cache;
  block.call_site = event.call_site;
  block.stack = event.stack;
  block.identity = event.identity;
  return block;
}

void World::apply_slab_alloc(Event& event, const SlabAlloc& alloc) {
  event.call_site = intern_kernel_address(alloc.call_site);
  if (!alloc.cache.empty()) {
    event.cache = strings_.intern(alloc.cache);
  }
  if (!options_.track_live_blocks || alloc.ptr == 0) {
    return;
  }
  LiveBlock block = block_of(event);
  block.kind = alloc.kmalloc ? BlockKind::Kmalloc : BlockKind::Cache;
  block.key = alloc.ptr;
  block.bytes = alloc.bytes_alloc;
  block.bytes_req = alloc.bytes_req;
  block.gfp = alloc.gfp;
  make_live(event, block);
}

void World::apply_slab_free(Event& event, const SlabFree& free) {
  event.call_site = intern_kernel_address(free.call_site);
  if (!free.cache.empty()) {
    event.cache = strings_.intern(free.cache);
  }
  // kfree(NULL) is traced too: the tracepoint stands before the test (mm/slub.c).
  if (options_.track_live_blocks && free.ptr != 0) {
    note_freed(event, live_.free_slab(free.ptr));
  }
}

void World::apply_page_alloc(Event& event, const PageAlloc& alloc) {
  if (alloc.failed) {
    return;
  }
  LiveBlock block = block_of(event);
  block.kind = BlockKind::Page;
  block.key = alloc.page;
  block.order = alloc.order;
  block.bytes = options_.page_size_bytes << alloc.order;
  block.bytes_req = block.bytes;
  block.gfp = alloc.gfp;
  block.migratetype = alloc.migratetype;
  make_live(event, block);
}

void World::make_live(Event& event, const LiveBlock& block) {
  replaced_ = live_.allocate(block);
  event.replaced = replaced_ ? &*replaced_ : nullptr;
}

void World::note_freed(Event& event, std::optional<LiveBlock> block) {
  if (!block) {
    ++unmatched_frees_;
    return;
  }
  freed_ = *block;
  event.freed = &*freed_;
}

}  // namespace memtrace
