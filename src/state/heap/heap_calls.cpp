#include "state/heap/heap_calls.h"

#include <algorithm>
#include <utility>

namespace memtrace {
namespace {

// The deepest stack between an allocator's function and another that it calls. Calls further apart
// are on different stacks: signal stacks, coroutines.
constexpr std::int32_t kDeepestNestingBytes = 256 << 10;
// The kernel follows at most 64 unreturned calls of a thread (kernel/events/uprobes.c,
// MAX_URETPROBE_DEPTH).
constexpr std::size_t kMaxPending = 64;

// How much deeper in the stack `inner` was called than `outer`.
std::int32_t depth_between(const HeapCall& outer, const HeapCall& inner) {
  return static_cast<std::int32_t>(outer.stack_pointer - inner.stack_pointer);
}

bool is_left(const HeapCall& earlier, const HeapCall& now) {
  const std::int32_t depth = depth_between(earlier, now);
  return depth <= 0 && depth > -kDeepestNestingBytes;
}

bool is_around(const HeapCall& earlier, const HeapCall& now) {
  const std::int32_t depth = depth_between(earlier, now);
  return depth > 0 && depth < kDeepestNestingBytes;
}

}  // namespace

PendingCall& HeapCalls::enter(std::uint32_t tid, PendingCall call) {
  std::vector<PendingCall>& pending = threads_[tid];
  std::erase_if(pending,
                [&](const PendingCall& earlier) { return is_left(earlier.call, call.call); });
  if (pending.size() >= kMaxPending) {
    pending.erase(pending.begin());
  }
  call.is_nested = std::any_of(pending.begin(), pending.end(), [&](const PendingCall& earlier) {
    return is_around(earlier.call, call.call);
  });
  return pending.emplace_back(call);
}

std::optional<PendingCall> HeapCalls::leave(std::uint32_t tid,
                                            StringId name,
                                            std::uint32_t stack_pointer) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) {
    return std::nullopt;
  }
  std::vector<PendingCall>& pending = thread->second;
  const auto found = std::find_if(pending.rbegin(), pending.rend(), [&](const PendingCall& call) {
    return stack_pointer == 0 ? call.name == name : call.call.stack_pointer == stack_pointer;
  });
  if (found == pending.rend()) {
    return std::nullopt;
  }
  const auto position = std::prev(found.base());
  const PendingCall call = *position;
  pending.erase(position, pending.end());
  return call;
}

bool HeapCalls::is_replacing(std::uint32_t tid, std::uint64_t address) const {
  const auto thread = threads_.find(tid);
  return thread != threads_.end() &&
         std::any_of(thread->second.begin(), thread->second.end(), [&](const PendingCall& call) {
           return call.call.op == HeapOp::Realloc && call.call.address == address;
         });
}

}  // namespace memtrace
