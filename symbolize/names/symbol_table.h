// The functions of one file by address, from its ELF symbol tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

struct Symbol {
  std::uint64_t start = 0;  // SVMA
  std::uint64_t limit = 0;  // start when its size is not known, until the table is sorted
  std::uint64_t section_limit = 0;
  const char* name = "";  // mangled; borrowed from the ELF file, which must stay open
  bool is_plt_stub = false;
  std::uint8_t rank = 0;  // of several names for one address, the lowest is shown

  // Demangled, and "malloc@plt" for a stub.
  std::string readable_name() const;
};

class SymbolTable {
 public:
  void add(const Symbol& symbol) { symbols_.push_back(symbol); }

  // The function symbols in a section of this type (SHT_SYMTAB, SHT_DYNSYM); `bias` is added to
  // their addresses. How many there were.
  std::size_t add_section(const ElfFile& file, std::uint32_t section_type, std::uint64_t bias);

  // After the last add(), before the first find().
  void sort();

  const Symbol* find(std::uint64_t svma) const;

  bool empty() const { return symbols_.empty(); }

 private:
  std::vector<Symbol> symbols_;
};

// A symbol of an ELF table as one of ours; its rank says how well its name serves.
Symbol make_symbol(const GElf_Sym& source, const char* name);

bool is_function(const GElf_Sym& symbol);

}  // namespace memtrace
