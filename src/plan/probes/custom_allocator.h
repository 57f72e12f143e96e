// --alloc and --free: functions of an allocator that memtrace does not know.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tracepoints/probe/heap_functions.h"

namespace memtrace {

struct CustomFunction {
  std::string path;  // "" : any file of the target; else the end of a path: "libpool.so"
  std::string name;
  HeapFunction role;  // its name is not set: the text may move
};

// "[PATH:]FUNCTION(size=arg1)", also count=, align=, ptr=; a "->ptr" behind is welcome. Without
// parentheses an allocating function takes its size first, a freeing one its pointer. With ptr an
// allocating function is one that resizes. Error: Usage.
Result<CustomFunction> parse_custom_function(std::string_view text, HeapOp op);

}  // namespace memtrace
