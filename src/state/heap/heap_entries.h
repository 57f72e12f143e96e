// Separates entries of allocators' functions that are calls of the program from those that belong
// to a call under way:
//
//   malloc(50)         glibc's first: __malloc_hook is malloc_hook_ini, which sets the hook to null
//     malloc(50)       and begins again (malloc/hooks.c, until 2.33)
//
//   calloc(5, 10)      musl's does its work by malloc (HeapCall::has_inner); so does glibc's
//   realloc
//     malloc(50)       of no block, by a jump
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "state/process/stack_table.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class HeapEntries {
 public:
  // The thread enters that function a second time for the call that it is in. A name is that of
  // the call: "malloc_2".
  void expect_again(std::uint32_t tid, StringId name, std::uint64_t bytes);

  // To be asked once for each entry, in their order: whether it is no call of its own. `stack` is
  // in `stacks`; the empty one is of an entry that was recorded without.
  bool goes_on(std::uint32_t tid,
               StringId name,
               const HeapCall& call,
               StackId stack,
               const StackTable& stacks);

  // The same for a return, where returns alone are probed.
  bool is_inner_return(std::uint32_t tid, StringId name);

  // A call, whichever it is, has ended.
  void end_call(std::uint32_t tid);

  void forget(std::uint32_t tid) { threads_.erase(tid); }

  // After a loss nobody knows what was entered.
  void forget_all() { threads_.clear(); }

 private:
  struct Thread {
    StringId again_name;  // none: nothing is entered again
    std::uint64_t again_bytes = 0;
    HeapCall outer;  // has_inner: its inner call is still to come
    StringId outer_name;
    StackId outer_stack;
  };

  std::unordered_map<std::uint32_t, Thread> threads_;
};

}  // namespace memtrace
