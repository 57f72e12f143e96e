// The symbols that Fedora and RHEL leave in stripped files: .gnu_debugdata, an xz-compressed ELF
// file with a .symtab.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>

#include "symbolize/symbol_table.h"

namespace memtrace {

// libdwfl unpacks the section, and owns the names that went into the symbol table.
class MiniDebugInfo {
 public:
  MiniDebugInfo() = default;

  // Adds the symbols of the file at this path to the table, if it has any of that kind.
  static MiniDebugInfo load(const ElfFile& file, SymbolTable& table);

 private:
  struct Close {
    void operator()(Dwfl* session) const { ::dwfl_end(session); }
  };

  std::unique_ptr<Dwfl, Close> session_;
};

}  // namespace memtrace
