// The user heap's part of the world: calls of allocator functions become blocks.
#include "state/world/world.h"

namespace memtrace {

void World::fork(const ProcessTable::ForkedTask& task) {
  processes_.fork(task);
  heap_calls_.forget(task.tid);  // a former life's
  heap_entries_.forget(task.tid);
  heap_callers_.erase(task.tid);
  system_calls_.forget(task.tid);
  if (options_.track_mappings && task.pid != task.parent_pid) {
    memory_maps_.fork(task.parent_pid, task.pid);
  }
  kernel_work_.forget(task.tid);
  if (options_.track_heap_mappings && task.pid != task.parent_pid) {
    mapped_.fork(task.parent_pid, task.pid);
  }
  if (options_.track_live_blocks && task.pid != task.parent_pid) {
    heap_.fork(task.parent_pid, task.pid);
    kernel_memory_.forget(task.pid);
  }
}

void World::exec(std::uint32_t pid) {
  processes_.exec(pid);
  heap_.exec(pid);
  mapped_.exec(pid);
  kernel_memory_.forget(pid);
  if (options_.track_mappings) {
    memory_maps_.exec(pid);
  }
  system_calls_.forget(pid);  // another thread that called execve(2) has this id now
}

void World::exit(std::uint32_t pid, std::uint32_t tid) {
  processes_.exit(pid, tid);
  heap_calls_.forget(tid);
  heap_entries_.forget(tid);
  heap_callers_.erase(tid);
  system_calls_.forget(tid);
  memory_maps_.exit(pid, tid);
  kernel_work_.forget(tid);
}

void World::apply_heap_call(Event& event, const HeapCall& call) {
  const HeapNames::Names& names = heap_names_.of(*event.type, strings_);
  event.function = names.function;
  event.call_site = stacks_.caller(event.stack);
  if (heap_entries_.goes_on(event.tid, names.call, call, event.stack, stacks_)) {
    event.payload = HeapAgain{.bytes = call.bytes};
    return;
  }
  if (options_.track_heap_mappings && call.op != HeapOp::Free && event.stack.valid()) {
    heap_callers_[event.tid] = stacks_.outer(event.stack);
  }
  if (!options_.track_live_blocks) {
    return;
  }
  if (call.op == HeapOp::Free) {
    apply_heap_free(event, call);
    return;
  }
  PendingCall& pending = heap_calls_.enter(event.tid,
                                           {.name = names.call,
                                            .call = call,
                                            .weight = event.weight,
                                            .function = names.function,
                                            .call_site = event.call_site,
                                            .stack = event.stack,
                                            .replaced = {}});
  // Another thread may be given the old address before realloc's return is seen.
  if (call.op == HeapOp::Realloc && call.address != 0 && !pending.is_nested) {
    pending.replaced = heap_.take(event.pid, call.address);
    unmatched_frees_ += pending.replaced ? 0U : 1U;
  }
}

void World::apply_heap_free(Event& event, const HeapCall& call) {
  if (call.address == 0 || heap_calls_.is_replacing(event.tid, call.address)) {
    return;
  }
  // One operator delete calls the next, and the last one free: all with the same address. A block
  // that is there was allocated since.
  auto block = heap_.take(event.pid, call.address);
  FreedAddress& last = last_freed_[event.tid % last_freed_.size()];
  const bool again = !block && last.tid == event.tid && last.address == call.address;
  last = {event.tid, call.address};
  if (!again) {
    note_freed(event, std::move(block));
  }
}

void World::apply_heap_return(Event& event, const HeapReturn& ended) {
  const HeapNames::Names& names = heap_names_.of(*event.type, strings_);
  event.function = names.function;
  if (ended.usable_bytes) {  // probed at the return alone
    has_calls_ = false;
    if (heap_entries_.is_inner_return(event.tid, names.call)) {
      event.payload = HeapAgain{};
      return;
    }
    PendingCall call{.name = names.call,
                     .call = {.bytes = *ended.usable_bytes},
                     .weight = event.weight,
                     .function = names.function,
                     .call_site = stacks_.caller(event.stack),
                     .stack = event.stack,
                     .replaced = {}};
    finish_heap_call(event, ended, call);
    return;
  }
  heap_entries_.end_call(event.tid);
  if (!options_.track_live_blocks) {
    return;
  }
  auto pending = heap_calls_.leave(event.tid, names.call, ended.stack_pointer);
  if (pending && !pending->is_nested) {
    event.function = pending->function;
    finish_heap_call(event, ended, *pending);
  }
}

void World::finish_heap_call(Event& event, const HeapReturn& ended, PendingCall& pending) {
  event.stack = pending.stack;
  event.call_site = pending.call_site;
  event.weight = pending.weight;
  const bool failed = ended.address == 0 && pending.call.bytes != 0;
  if (failed) {
    if (pending.replaced) {
      heap_.allocate(*pending.replaced);  // realloc(3): the old block is untouched
    }
    return;
  }
  if (pending.replaced) {
    freed_ = pending.replaced;
    event.freed = &*freed_;
  }
  const HeapAlloc alloc{.address = ended.address,
                        .bytes = pending.call.bytes,
                        .is_realloc = pending.call.op == HeapOp::Realloc,
                        .has_call = !ended.usable_bytes};
  event.payload = alloc;
  if (alloc.address == 0 || !options_.track_live_blocks) {
    return;  // realloc(p, 0) frees
  }
  LiveBlock block = block_of(event);
  block.kind = BlockKind::Heap;
  block.key = alloc.address;
  block.bytes = alloc.bytes;
  block.bytes_req = alloc.bytes;
  block.function = event.function;
  block.weight = event.weight;
  heap_.allocate(block);
}

}  // namespace memtrace
