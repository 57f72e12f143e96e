// Probes on allocators' functions. They live in a group of their own, memtrace_heap_PID, and their
// fields say what the function does:
//
//   size                    malloc      size, align          aligned_alloc
//   size, count             calloc      ptr, size            realloc
//   ptr                     free        ptr, count, size     reallocarray
//   inner                   beside these: the call may go on in another of these functions
//   result                  the return of any of them
//   result, sp              at a return instruction that may be of other functions too
//   result, chunk           the return alone, with glibc's chunk header (malloc/malloc.c)
//   again                   what makes glibc's first call enter the function a second time
//
// An event is named after its function: "malloc", and "malloc_2" that of the second allocator in
// which there is one; "malloc_2_ret" is its return, of which there may be several: "_Znwm_ret_3",
// and "malloc_2_again" says that the next entry is not another call.
#pragma once

#include <string>
#include <string_view>

namespace memtrace {

inline constexpr std::string_view kHeapGroup = "memtrace_heap_";
inline constexpr std::string_view kReturnSuffix = "_ret";
inline constexpr std::string_view kAgainSuffix = "_again";

bool is_heap_event(std::string_view event_name);
bool is_heap_return(std::string_view event_name);

// "memtrace_heap_12:malloc_2_ret_3" -> "malloc". A call and its returns have the same call_name,
// "malloc_2", which distinguishes allocators.
std::string heap_function(std::string_view event_name);
std::string heap_call_name(std::string_view event_name);

}  // namespace memtrace
