// The name of one frame of a stack.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace {

// One function of an address; inlined functions come first, the one they were inlined into last.
struct FrameName {
  std::string function;  // demangled; "" when nothing is known
  std::uint64_t offset_in_function = 0;
  std::string module;               // "libc.so.6", "[kernel]", "[nf_tables]"
  std::uint64_t module_offset = 0;  // what to print when there is no function
  std::string file;                 // "" without line information
  std::uint32_t line = 0;
  bool inlined = false;
};

}  // namespace memtrace
