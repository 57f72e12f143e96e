#include "state/heap/heap_entries.h"

namespace memtrace {
namespace {

// realloc of a block works without malloc's entry.
bool expects_inner(const HeapCall& call) {
  return call.has_inner && (call.op != HeapOp::Realloc || call.address == 0);
}

// The same request, and entered from the outer function: by a jump with its stack pointer, by a
// call a little deeper.
bool is_inner(const HeapCall& outer, const HeapCall& now) {
  constexpr std::uint32_t kLargestFrameBytes = 512;
  return expects_inner(outer) && now.bytes == outer.bytes &&
         outer.stack_pointer - now.stack_pointer < kLargestFrameBytes;
}

// Whether the stacks allow that one entry comes from the other. glibc's memalign goes on in malloc
// for small alignments only: what the program calls next may ask for as many bytes at the same
// depth. A jump leaves the callers as they were; a call comes from the allocator's own file.
bool may_come_from(StackId outer, StackId now, const StackTable& stacks) {
  const StackId callers = outer.valid() ? stacks.outer(outer) : StackId();
  const LocationId caller = now.valid() ? stacks.caller(now) : LocationId();
  if (!callers.valid() || !caller.valid() || stacks.passes_through(now, callers)) {
    return true;  // or the stacks do not show it
  }
  return stacks.location(caller).module == stacks.location(stacks.locations(outer).front()).module;
}

}  // namespace

void HeapEntries::expect_again(std::uint32_t tid, StringId name, std::uint64_t bytes) {
  Thread& thread = threads_[tid];
  thread.again_name = name;
  thread.again_bytes = bytes;
}

bool HeapEntries::goes_on(std::uint32_t tid,
                          StringId name,
                          const HeapCall& call,
                          StackId stack,
                          const StackTable& stacks) {
  Thread& thread = threads_[tid];
  const bool again =
      thread.again_name.valid() && thread.again_name == name && thread.again_bytes == call.bytes;
  thread.again_name = {};
  if (again) {
    return true;  // the call is still to do its work
  }
  const bool inner = is_inner(thread.outer, call) && thread.outer_name != name &&
                     may_come_from(thread.outer_stack, stack, stacks);
  // An inner call may have its own: valloc, memalign, aligned_alloc.
  thread.outer = call;
  thread.outer_name = name;
  thread.outer_stack = stack;
  return inner;
}

bool HeapEntries::is_inner_return(std::uint32_t tid, StringId name) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) {
    return false;
  }
  Thread& thread = found->second;
  const bool again = thread.again_name.valid() && thread.again_name == name;
  const bool inner = again || expects_inner(thread.outer);
  thread.again_name = {};
  thread.outer = {};
  return inner;
}

void HeapEntries::end_call(std::uint32_t tid) {
  if (const auto found = threads_.find(tid); found != threads_.end()) {
    found->second.outer = {};
  }
}

}  // namespace memtrace
