// A symbol table of an ELF file, as far as a file may decide what it costs to look at: how many
// symbols there are, and how long their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

class ElfSymbols {
 public:
  // The largest programs have two million.
  static constexpr std::size_t kMost = std::size_t{1} << 22U;
  static constexpr std::size_t kMaxNameBytes = std::size_t{16} << 10U;

  // Of the first section of this type (SHT_SYMTAB, SHT_DYNSYM); empty without one, and when its
  // entries have another size than the symbols of its class. `file` must stay open.
  ElfSymbols(const ElfFile& file, std::uint32_t section_type);

  std::size_t count() const { return count_; }

  std::optional<GElf_Sym> at(std::size_t index) const;

  // Ends with NUL, in the file. "" for one that is longer than any compiler's, and when the names
  // together are longer than those of any program: many symbols may name the same text.
  const char* name(const GElf_Sym& symbol);

 private:
  Elf_Data* data_ = nullptr;
  std::string_view names_;
  std::size_t count_ = 0;
  std::size_t named_bytes_ = 0;
};

}  // namespace memtrace
