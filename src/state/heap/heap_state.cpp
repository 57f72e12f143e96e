#include "state/heap/heap_state.h"

#include <utility>

namespace memtrace {

const HeapNames::Names& HeapState::names_of(const EventType& type) {
  return names_.of(type, strings_);
}

void HeapState::fork(const ProcessTable::ForkedTask& task) {
  forget(task.tid);  // a former life's
  if (options_.track_blocks && task.pid != task.parent_pid) {
    blocks_.fork(task.parent_pid, task.pid);
  }
}

void HeapState::exec(std::uint32_t pid) {
  blocks_.exec(pid);
}

void HeapState::forget(std::uint32_t tid) {
  calls_.forget(tid);
  entries_.forget(tid);
  callers_.erase(tid);
}

void HeapState::forget_calls() {
  calls_.forget_all();
  entries_.forget_all();
}

void HeapState::apply(Event& event, const HeapAgain& again) {
  entries_.expect_again(event.tid, names_of(*event.type).call, again.bytes);
}

void HeapState::apply(Event& event, const HeapCall& call) {
  const HeapNames::Names& names = names_of(*event.type);
  event.function = names.function;
  event.call_site = stacks_.caller(event.stack);
  if (entries_.goes_on(event.tid, names.call, call, event.stack, stacks_)) {
    event.payload = {};  // nobody counts it
    return;
  }
  if (options_.track_callers && call.op != HeapOp::Free && event.stack.valid()) {
    callers_[event.tid] = stacks_.outer(event.stack);
  }
  if (!options_.track_blocks) {
    return;
  }
  if (call.op == HeapOp::Free) {
    apply_free(event, call);
    return;
  }
  PendingCall& pending = calls_.enter(event.tid,
                                      {.name = names.call,
                                       .call = call,
                                       .weight = event.weight,
                                       .function = names.function,
                                       .call_site = event.call_site,
                                       .stack = event.stack,
                                       .replaced = {}});
  // Another thread may be given the old address before realloc's return is seen.
  if (call.op == HeapOp::Realloc && call.address != 0 && !pending.is_nested) {
    pending.replaced = blocks_.take(event.pid, call.address);
    unmatched_frees_ += pending.replaced ? 0U : 1U;
  }
}

void HeapState::apply_free(Event& event, const HeapCall& call) {
  if (call.address == 0 || calls_.is_replacing(event.tid, call.address)) {
    return;
  }
  // One operator delete calls the next, and the last one free: all with the same address. A block
  // that is there was allocated since.
  auto block = blocks_.take(event.pid, call.address);
  FreedAddress& last = last_freed_[event.tid % last_freed_.size()];
  const bool again = !block && last.tid == event.tid && last.address == call.address;
  last = {event.tid, call.address};
  if (!again) {
    note_freed(event, block);
  }
}

void HeapState::apply(Event& event, const HeapReturn& ended) {
  const HeapNames::Names& names = names_of(*event.type);
  event.function = names.function;
  if (ended.usable_bytes) {  // probed at the return alone
    has_calls_ = false;
    if (entries_.is_inner_return(event.tid, names.call)) {
      event.payload = {};
      return;
    }
    PendingCall call{.name = names.call,
                     .call = {.bytes = *ended.usable_bytes},
                     .weight = event.weight,
                     .function = names.function,
                     .call_site = stacks_.caller(event.stack),
                     .stack = event.stack,
                     .replaced = {}};
    finish(event, ended, call);
    return;
  }
  entries_.end_call(event.tid);
  if (!options_.track_blocks) {
    return;
  }
  auto pending = calls_.leave(event.tid, names.call, ended.stack_pointer);
  if (pending && !pending->is_nested) {
    event.function = pending->function;
    finish(event, ended, *pending);
  }
}

void HeapState::finish(Event& event, const HeapReturn& ended, PendingCall& pending) {
  event.stack = pending.stack;
  event.call_site = pending.call_site;
  event.weight = pending.weight;
  const bool failed = ended.address == 0 && pending.call.bytes != 0;
  if (failed) {
    if (pending.replaced) {
      blocks_.allocate(*pending.replaced);  // realloc(3): the old block is untouched
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
  if (alloc.address == 0 || !options_.track_blocks) {
    return;  // realloc(p, 0) frees
  }
  LiveBlock block = block_of(event);
  block.kind = BlockKind::Heap;
  block.key = alloc.address;
  block.bytes = alloc.bytes;
  block.bytes_req = alloc.bytes;
  block.function = event.function;
  block.weight = event.weight;
  replaced_ = blocks_.allocate(block);
  event.replaced = replaced_ ? &*replaced_ : nullptr;
}

void HeapState::note_freed(Event& event, std::optional<LiveBlock> block) {
  if (!block) {
    ++unmatched_frees_;
    return;
  }
  freed_ = block;
  event.freed = &*freed_;
}

// Where returns are not probed the stacks tell: that of a mapping made within the last call goes on
// at that call's caller.
bool HeapState::is_in_call(const Event& event) const {
  if (calls_.is_in_call(event.tid)) {
    return true;
  }
  const auto last = callers_.find(event.tid);
  return last != callers_.end() && stacks_.passes_through(event.stack, last->second);
}

}  // namespace memtrace
