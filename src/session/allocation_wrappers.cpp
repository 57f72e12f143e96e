#include "session/allocation_wrappers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

// Whole names, without what compilers and the linker put behind them: ".part.0", "@plt". The table
// of memtrace-report(1), KEYS, is made of these four.
constexpr auto kWrappers = std::to_array<std::string_view>({
    // The C library: allocators that call others, and what returns memory to be freed.
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "__strdup",
    "strndup",
    "__strndup",
    "wcsdup",
    "asprintf",
    "__asprintf",
    "__asprintf_chk",
    "___asprintf_chk",
    "vasprintf",
    "__vasprintf_chk",
    "__vasprintf_internal",
    // gnulib's xalloc.h, and programs with functions of these names.
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "xreallocarray",
    "xzalloc",
    "xnmalloc",
    "xnrealloc",
    "x2realloc",
    "x2nrealloc",
    "xcharalloc",
    "ximalloc",
    "xicalloc",
    "xirealloc",
    "xmemdup",
    "xmemdup0",
    "xstrdup",
    "xstrndup",
    "xasprintf",
    "xvasprintf",
    // GLib.
    "g_malloc",
    "g_malloc0",
    "g_malloc_n",
    "g_malloc0_n",
    "g_realloc",
    "g_realloc_n",
    "g_try_malloc",
    "g_try_malloc0",
    "g_try_malloc_n",
    "g_try_malloc0_n",
    "g_try_realloc",
    "g_try_realloc_n",
    "g_aligned_alloc",
    "g_aligned_alloc0",
    "g_memdup",
    "g_memdup2",
    "g_strdup",
    "g_strndup",
    "g_strdup_printf",
    "g_strdup_vprintf",
    "g_slice_alloc",
    "g_slice_alloc0",
    "g_slice_copy",
    // Python, beside its families below.
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    // Go.
    "runtime.mallocgc",
    "runtime.newobject",
    "runtime.newarray",
    "runtime.makeslice",
    "runtime.makeslicecopy",
    "runtime.growslice",
});

// The beginnings of names.
constexpr auto kWrapperFamilies = std::to_array<std::string_view>({
    "operator new(",
    "operator new[](",
    "PyMem_",
    "_PyMem_",
    "__rust_alloc",
    "__rust_realloc",
    "__rdl_alloc",
    "__rdl_realloc",
    "__rg_alloc",
    "__rg_realloc",
    "alloc::",
    "<alloc::",
});

// Functions of allocators and containers of the C++ library: std::allocator<T>::allocate() and
// std::vector<T>::_M_allocate() of libstdc++, std::__1::__libcpp_allocate() of libc++.
constexpr auto kLibraryWrappers = std::to_array<std::string_view>({
    "allocate",
    "allocate_at_least",
    "_S_allocate",
    "_M_allocate",
    "_M_allocate_node",
    "_M_allocate_map",
    "_M_allocate_buckets",
    "_M_get_node",
    "_M_create_node",
    "_M_create",
    "_S_create",
    "__allocate_guarded",
    "__allocate_at_least",
    "__libcpp_allocate",
    "__libcpp_operator_new",
});

constexpr auto kCppLibraries = std::to_array<std::string_view>({"std::", "__gnu_cxx::"});

bool is_whole(std::string_view name, std::string_view function) {
  constexpr std::string_view kEnds = ".@(";
  return name.starts_with(function) &&
         (name.size() == function.size() ||
          kEnds.find(name[function.size()]) != std::string_view::npos);
}

// "_M_allocate" of "std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)".
std::string_view last_name(std::string_view function) {
  std::size_t depth = 0;
  std::size_t begin = 0;
  std::size_t end = function.size();
  for (std::size_t at = 0; at < function.size(); ++at) {
    const char character = function[at];
    if (depth == 0 && (character == '<' || character == '(' || character == '[')) {
      end = std::min(end, at);  // of the name, unless "::" follows
    }
    depth += character == '<' || character == '(' ? 1 : 0;
    depth -= (character == '>' || character == ')') && depth > 0 ? 1 : 0;
    if (depth == 0 && function.substr(at).starts_with("::")) {
      begin = at + 2;
      end = function.size();
    }
  }
  return function.substr(begin, std::max(end, begin) - begin);
}

// DWARF has only the last name of many functions that are inlined.
bool is_of_library(const Frame& frame) {
  const bool is_inlined_there = frame.inlined && frame.file.find("/c++/") != std::string::npos;
  return is_inlined_there || std::ranges::any_of(kCppLibraries, [&frame](std::string_view library) {
           return frame.function.starts_with(library);
         });
}

}  // namespace

bool is_allocation_wrapper(const Frame& frame) {
  if (frame.kernel) {
    return false;
  }
  const std::string_view name(frame.function);
  const auto begins = [name](std::string_view family) { return name.starts_with(family); };
  const auto is_it = [name](std::string_view function) { return is_whole(name, function); };
  return std::ranges::any_of(kWrappers, is_it) || std::ranges::any_of(kWrapperFamilies, begins) ||
         (is_of_library(frame) &&
          std::ranges::find(kLibraryWrappers, last_name(name)) != kLibraryWrappers.end());
}

bool is_allocation_wrapper(const Frames& frames) {
  return !frames.empty() && std::ranges::all_of(frames, [](const Frame& frame) {
    return is_allocation_wrapper(frame);
  });
}

Frames without_wrappers(const Frames& frames) {
  const auto first = std::ranges::find_if_not(
      frames, [](const Frame& frame) { return frame.inlined && is_allocation_wrapper(frame); });
  return first == frames.end() ? frames : Frames(first, frames.end());
}

}  // namespace memtrace
