#include "state/world/world.h"

#include <algorithm>
#include <type_traits>

namespace memtrace {
namespace {

// As it was decoded; monostate for what waits for its pair.
void take_payload(const RawPayload& decoded, EventPayload& taken) {
  std::visit(
      [&taken](const auto& payload) {
        using Payload = std::remove_cvref_t<decltype(payload)>;
        if constexpr (std::is_constructible_v<EventPayload, Payload>) {
          taken.emplace<Payload>(payload);
        } else {
          taken.emplace<std::monostate>();
        }
      },
      decoded);
}

}  // namespace

World::World(Options options, std::shared_ptr<CodeTables> code)
    : options_(options),
      code_(std::move(code)),
      stacks_(*code_, processes_, {.part = options.part, .use = options.stacks}),
      kernel_blocks_(options.page_size_bytes),
      heap_(stacks_.stacks(),
            strings_,
            {.track_blocks = options.track_live_blocks,
             .track_callers = options.track_heap_mappings}),
      program_mappings_({.heap = heap_,
                         .stacks = stacks_.stacks(),
                         .modules = code_->modules,
                         .strings = strings_},
                        options.page_size_bytes),
      calls_({.track_mappings = options.track_mappings,
              .track_kernel_memory = options.track_live_blocks,
              .track_first_touches = options.track_first_touches,
              .page_size_bytes = options.page_size_bytes}) {}

void World::map(const NewMapping& mapping) {
  const ModuleId module = code_->modules.intern(mapping.module);
  facts_.last_module = std::max(facts_.last_module, module);
  std::uint64_t offset = mapping.file_offset;
  if (mapping.module.kind == ModuleKind::Anonymous) {
    offset = mapping.range.start;  // CodeLocation: anonymous code is known by its address
  } else if (mapping.module.kind == ModuleKind::Vdso) {
    offset = 0;  // perf reports the vdso's own address as its file offset
  }
  Process& process = processes_.process(mapping.pid);
  process.space.map(mapping.range, {module, offset - mapping.range.start});
  if (mapping.module.kind == ModuleKind::File && !processes_.lives().at(process.life).exe.valid()) {
    processes_.lives().note_exe(process.life, strings_.intern(mapping.module.path));
  }
}

void World::announce(const MemoryMaps::Record& record) {
  calls_.announce(record);
}

std::optional<World::FoundArea> World::find(std::uint32_t pid, std::uint64_t avma) const {
  const MemoryMap::Entry* entry = calls_.memory_maps().find(pid, avma);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return FoundArea{
      .area = entry->value,
      .start = entry->start,
      .limit = entry->limit,
      .file_offset = entry->value.has_offset() ? avma + entry->value.offset_minus_avma : 0};
}

void World::fork(const ProcessTable::ForkedTask& task) {
  processes_.fork(task);
  heap_.fork(task);
  calls_.fork(task.parent_pid, task.pid, task.tid);
  kernel_.work.forget(task.tid);
  if (options_.track_heap_mappings && task.pid != task.parent_pid) {
    program_mappings_.fork(task.parent_pid, task.pid);
  }
}

void World::exec(std::uint32_t pid) {
  processes_.exec(pid);
  heap_.exec(pid);
  program_mappings_.exec(pid);
  calls_.exec(pid);
}

void World::exit(std::uint32_t pid, std::uint32_t tid) {
  processes_.exit(pid, tid);
  heap_.forget(tid);
  calls_.exit(pid, tid);
  kernel_.work.forget(tid);
}

void World::note_loss(std::uint64_t time_ns) {
  facts_.last_loss_ns = std::max(facts_.last_loss_ns, time_ns);
  heap_.forget_calls();
  calls_.forget_calls();
  kernel_.work.forget_all();
}

void World::identify(std::uint32_t pid, IdentityId identity) {
  if (pid != 0) {
    processes_.process(pid).identity = identity;
  }
  // The idle task, in whose name interrupts allocate, is root's in the root cgroup
  // (init/init_task.c) and has no folder in /proc.
  idle_identity_ = identities_.intern(0, "/");
}

void World::describe(std::uint32_t pid, std::uint32_t parent_pid, std::string_view command) {
  const LifeId life = processes_.process(pid).life;
  processes_.lives().note_parent(life, parent_pid);
  if (!command.empty()) {
    processes_.lives().note_command(life, strings_.intern(command));
  }
}

IdentityId World::identity_of(std::uint32_t pid) const {
  if (pid == 0) {
    return idle_identity_;
  }
  const Process* process = processes_.find(pid);
  return process == nullptr ? IdentityId() : process->identity;
}

void World::apply(Event& event, const RawPayload& decoded) {
  take_payload(decoded, event.payload);
  event.comm = processes_.comm(event.pid, event.tid);
  if (last_process_ == nullptr || last_process_->pid != event.pid) {
    last_process_ = processes_.find(event.pid);
  }
  const bool is_process = event.pid != 0 && last_process_ != nullptr;
  event.identity = is_process ? last_process_->identity : identity_of(event.pid);
  event.life = is_process ? last_process_->life : LifeId();
  event.freed = nullptr;
  event.replaced = nullptr;
  program_mappings_.forget_change();
  if (event.type != nullptr && !event.type->probe.empty()) {
    event.function = heap_.names_of(*event.type).function;
    event.call_site = stacks().caller(event.stack);
  }
  complete(event, decoded);
  calls_.note_touches(event, event.time_ns >= facts_.counted_from_ns);
}

void World::complete(Event& event, const RawPayload& decoded) {
  if (!apply_allocation(event) && !apply_user_event(event, decoded) &&
      !apply_work(event, decoded) && !apply_part_of_reclaim(event) && !apply_cached_page(event)) {
    apply_label(event);
  }
}

// Each of these is true when the event was one of theirs.

bool World::apply_allocation(Event& event) {
  if (const auto* slab = std::get_if<SlabAlloc>(&event.payload)) {
    apply_slab_alloc(event, *slab);
  } else if (const auto* free = std::get_if<SlabFree>(&event.payload)) {
    apply_slab_free(event, *free);
  } else if (const auto* pages = std::get_if<PageAlloc>(&event.payload)) {
    kernel_.folio_orders.on(*pages, event.weight);
    if (options_.track_live_blocks) {
      kernel_blocks_.apply(event, *pages);
    }
  } else if (const auto* page_free = std::get_if<PageFree>(&event.payload)) {
    if (options_.track_live_blocks) {
      kernel_blocks_.apply(event, *page_free);
    }
  } else {
    return false;
  }
  return true;
}

bool World::apply_user_event(Event& event, const RawPayload& decoded) {
  if (const auto* call = std::get_if<HeapCall>(&decoded)) {
    heap_.apply(event, *call);
  } else if (const auto* ended = std::get_if<HeapReturn>(&decoded)) {
    heap_.apply(event, *ended);
  } else if (const auto* again = std::get_if<HeapAgain>(&decoded)) {
    heap_.apply(event, *again);
  } else if (const auto* entry = std::get_if<SystemCallEntry>(&decoded)) {
    event.call = entry->call;
    calls_.enter(event, *entry);
  } else if (const auto* call_ended = std::get_if<SystemCallExit>(&decoded)) {
    event.call = call_ended->call;
    apply_call_exit(event, *call_ended);
  } else if (const auto* fault = std::get_if<PageFault>(&decoded)) {
    event.call_site =
        options_.keep_code_of_faults ? stacks_.instruction(event.pid, fault->ip) : LocationId();
  } else {
    return false;
  }
  return true;
}

// Begins and ends of the kernel's own work on memory become whole works.
bool World::apply_work(Event& event, const RawPayload& decoded) {
  if (const auto* begin = std::get_if<WorkBegin>(&decoded)) {
    event.call_site = stacks_.kernel_function(begin->function);
    kernel_.work.begin(event, *begin);
  } else if (const auto* end = std::get_if<WorkEnd>(&decoded)) {
    const Work work = kernel_.work.end(event, *end);
    event.call_site = stacks_.kernel_function(work.begin.function);
    event.payload = work;
  } else if (const auto* moved = std::get_if<CompactionMoved>(&decoded)) {
    kernel_.work.note(event.tid, *moved);
  } else if (const auto* goal = std::get_if<CompactionGoal>(&decoded)) {
    kernel_.work.note(event.tid, *goal);
  } else if (const auto* attempt = std::get_if<CompactionTry>(&decoded)) {
    kernel_.work.note(event.tid, *attempt);
  } else {
    return false;
  }
  return true;
}

bool World::apply_part_of_reclaim(Event& event) {
  PartOfReclaim* part = nullptr;
  if (auto* shrink = std::get_if<LruShrink>(&event.payload)) {
    part = &shrink->part;
  } else if (auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    part = &write->part;
    write->pages = kernel_.folio_orders.written_at(write->page, event.tid);
  } else if (auto* throttle = std::get_if<ReclaimThrottle>(&event.payload)) {
    part = &throttle->part;
  }
  if (part == nullptr) {
    return false;
  }
  part->kind = kernel_.work.reclaim_of(event.tid);
  return true;
}

bool World::apply_cached_page(Event& event) {
  if (const auto* change = std::get_if<PageCacheChange>(&event.payload)) {
    kernel_.folio_sizes.on(*change);
  } else if (auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    dirtied->pages = kernel_.folio_sizes.pages_at(dirtied->inode, dirtied->index);
    event.label = strings_.intern(dirtied->device);
  } else {
    return false;
  }
  return true;
}

// Texts that payloads borrow from their sample become ids.
void World::apply_label(Event& event) {
  if (const auto* victim = std::get_if<OomVictim>(&event.payload)) {
    event.label = victim->comm.empty() ? processes_.comm(victim->pid, victim->pid)
                                       : strings_.intern(victim->comm);
  } else if (const auto* signal = std::get_if<SignalSent>(&event.payload)) {
    event.label = strings_.intern(signal->comm);
  } else if (const auto* balance = std::get_if<DirtyBalance>(&event.payload)) {
    event.label = strings_.intern(balance->device);
  } else if (const auto* written = std::get_if<InodeWritten>(&event.payload)) {
    event.label = strings_.intern(written->device);
  }
}

void World::apply_slab_alloc(Event& event, const SlabAlloc& alloc) {
  event.call_site = stacks_.kernel_address(alloc.call_site);
  if (!alloc.cache.empty()) {
    event.cache = strings_.intern(alloc.cache);
  }
  if (options_.track_live_blocks) {
    kernel_blocks_.apply(event, alloc);
  }
}

void World::apply_slab_free(Event& event, const SlabFree& free) {
  event.call_site = stacks_.kernel_address(free.call_site);
  if (!free.cache.empty()) {
    event.cache = strings_.intern(free.cache);
  }
  if (options_.track_live_blocks) {
    kernel_blocks_.apply(event, free);
  }
}

void World::apply_call_exit(Event& event, const SystemCallExit& ended) {
  const auto map = calls_.leave(event, ended);
  if (map && options_.track_heap_mappings) {
    program_mappings_.apply(event, *map);
  }
}

}  // namespace memtrace
