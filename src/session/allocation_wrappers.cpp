#include "session/allocation_wrappers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

// Whole names, without what compilers and the linker put behind them: ".part.0", "@plt". The table
// of memtrace-report(1), KEYS, is made of these lists.
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

// Namespaces of containers, of their allocators and of what they are made with. Abseil's has a
// namespace of its version in between: absl::lts_20220623::container_internal.
constexpr auto kContainerLibraries = std::to_array<std::string_view>(
    {"std::", "__gnu_cxx::", "boost::container::", "absl::container_internal::", "tsl::"});

// Where the headers of these libraries are.
constexpr auto kContainerHeaders = std::to_array<std::string_view>(
    {"/c++/", "/boost/container/", "/absl/container/internal/", "/tsl/"});

bool is_whole(std::string_view name, std::string_view function) {
  constexpr std::string_view kEnds = ".@(";
  return name.starts_with(function) &&
         (name.size() == function.size() ||
          kEnds.find(name[function.size()]) != std::string_view::npos);
}

// What follows the parameters, not the result: "f() const", "f() [clone .cold]".
bool ends_a_function(std::string_view rest) {
  constexpr auto kEnds =
      std::to_array<std::string_view>({"const", "volatile", "[", "&", "noexcept", "requires"});
  return std::ranges::any_of(kEnds, [rest](std::string_view end) { return rest.starts_with(end); });
}

std::size_t nesting_after(std::size_t depth, char character) {
  const bool opens = character == '<' || character == '(';
  const bool closes = character == '>' || character == ')';
  return opens ? depth + 1 : closes && depth > 0 ? depth - 1 : depth;
}

// "std::construct_at<int>(int*)" of "decltype (::new ((void*)(0)) int())
// std::construct_at<int>(int*)": the name of a template's instance begins with the type that it
// returns.
std::string_view without_result(std::string_view function) {
  std::size_t depth = 0;
  std::size_t begin = 0;
  char before = ' ';
  for (std::size_t at = 0; at < function.size(); ++at) {
    const std::string_view rest = function.substr(at);
    const bool is_arrow = before == '-' && rest[0] == '>';
    depth = is_arrow ? depth : nesting_after(depth, rest[0]);
    before = rest[0];
    if (depth != 0) {
      continue;
    }
    const bool is_blank = rest[0] == ' ';
    // What follows "operator" may be a "<".
    if (rest.starts_with("operator") || (is_blank && ends_a_function(rest.substr(1)))) {
      break;
    }
    begin = is_blank ? at + 1 : begin;
  }
  return function.substr(begin);
}

// "absl::container_internal::f" of "absl::lts_20220623::container_internal::f".
std::string without_version(std::string_view name) {
  constexpr std::string_view kAbseil = "absl::";
  constexpr std::string_view kContainers = "::container_internal::";
  const std::size_t found = name.find(kContainers);
  if (!name.starts_with(kAbseil) || found == std::string_view::npos ||
      found > name.find_first_of("<(")) {
    return std::string(name);
  }
  return std::string(kAbseil).append(name.substr(found + 2));
}

}  // namespace

bool is_container_code(const Frame& frame) {
  const auto is_there = [&frame](std::string_view header) {
    return frame.file.find(header) != std::string::npos;
  };
  if (frame.kernel || (frame.inlined && std::ranges::any_of(kContainerHeaders, is_there))) {
    return !frame.kernel;
  }
  const std::string name = without_version(without_result(frame.function));
  return std::ranges::any_of(
      kContainerLibraries, [&name](std::string_view library) { return name.starts_with(library); });
}

bool is_allocation_wrapper(const Frame& frame) {
  if (frame.kernel) {
    return false;
  }
  const std::string_view name(frame.function);
  const auto begins = [name](std::string_view family) { return name.starts_with(family); };
  const auto is_it = [name](std::string_view function) { return is_whole(name, function); };
  return std::ranges::any_of(kWrappers, is_it) || std::ranges::any_of(kWrapperFamilies, begins) ||
         is_container_code(frame);
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
