// A place in code that stays true when processes end and addresses are reused.
#pragma once

#include <compare>
#include <cstdint>

#include "base/hash.h"
#include "base/ids.h"

namespace memtrace {

// offset: a file offset in a file's module, an AVMA in the kernel, [vdso]-relative in the vdso, an
// AVMA in anonymous code.
// is_return_address: the call is the instruction before, so names are looked up one byte earlier;
// else a function that ends in a call would be taken for the next one.
struct CodeLocation {
  ModuleId module;
  bool is_return_address = false;
  std::uint64_t offset = 0;

  std::uint64_t lookup_offset() const { return offset - (is_return_address ? 1 : 0); }

  friend bool operator==(const CodeLocation&, const CodeLocation&) = default;
};

enum class ModuleKind : std::uint8_t { File, Kernel, Vdso, Anonymous, Unknown };

struct CodeLocationHash {
  std::size_t operator()(const CodeLocation& location) const noexcept {
    return combine(
        mix(location.offset),
        (std::uint64_t{location.module.value} << 1) | (location.is_return_address ? 1U : 0U));
  }
};

}  // namespace memtrace
