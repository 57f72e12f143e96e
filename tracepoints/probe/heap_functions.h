// The functions by which allocators are known, and what their arguments are. Sources: the man pages
// malloc(3), posix_memalign(3), malloc(3) of FreeBSD for jemalloc, gperftools' tcmalloc.h, and
// mimalloc.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tracepoints/event/event.h"

namespace memtrace {

// Arguments by their place, -1: there is none.
struct HeapFunction {
  std::string_view name;  // without an allocator's prefix
  HeapOp op = HeapOp::Alloc;
  std::int8_t ptr = -1;
  std::int8_t size = -1;
  std::int8_t count = -1;
  bool returns_block = true;        // false: nothing, or through a pointer (posix_memalign)
  bool is_operator = false;         // C++'s: an exception may leave it
  std::int8_t memory_pointer = -1;  // of posix_memalign: where the block's address is put
  // A function of Go, whose arguments are in registers of its own since 1.17 (ABIInternal), and
  // whose stacks move: no return may be probed. Its garbage collector frees.
  bool is_go = false;
};

std::span<const HeapFunction> heap_functions();

// Go's own. It is not among heap_functions().
const HeapFunction& go_allocation();

// Prefixes that allocators are known to be built with; "" is first.
std::span<const std::string_view> heap_prefixes();

// What uprobe_events shall fetch at the entry: "size=%di:u64 sp=%sp:u32"; of a function that goes
// on in another one that is probed, "inner=%sp:u32" too.
std::string entry_arguments(const HeapFunction& function, bool has_inner = false);
// And at the return: "result=%ax:u64", with `chunk` glibc's size word in front of the block too.
std::string return_arguments(bool chunk);

// The register of a function's result, which is "$retval" on every kernel: those before 3.16 and
// RHEL 7.7 know registers only.
std::string_view result_register();

// How the kernel names the register of an argument by its place, "%di"; "" past the sixth.
std::string_view argument_register(std::int8_t place);

}  // namespace memtrace
