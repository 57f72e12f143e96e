// The symbols that Fedora and RHEL leave in stripped files: .gnu_debugdata, an xz-compressed ELF
// file with a .symtab.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "symbolize/debug/unpacked_bytes.h"
#include "symbolize/names/symbol_table.h"

namespace memtrace {

// Owns the names that went into the symbol table.
class MiniDebugInfo {
 public:
  // Such sections have some 5 % of the size of the code.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  MiniDebugInfo() = default;

  // Adds the symbols of the file to the table, if it has any of that kind.
  static MiniDebugInfo load(const ElfFile& file, SymbolTable& table);

  // Why they were left out, as the end of a sentence about the file; "" when nothing was.
  const std::string& problem() const { return problem_; }

 private:
  Result<> unpack(const ElfFile& file);

  UnpackedBytes memory_;
  std::optional<ElfFile> file_;
  std::string problem_;
};

}  // namespace memtrace
