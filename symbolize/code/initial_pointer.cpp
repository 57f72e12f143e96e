#include "symbolize/code/initial_pointer.h"

#include <algorithm>
#include <cstring>

#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/load_layout.h"

namespace memtrace {
namespace {

// Where the variable lies, as the linker numbered addresses.
std::optional<std::uint64_t> svma_of_variable(const ElfFile& file,
                                              std::uint32_t section_type,
                                              std::string_view variable) {
  ElfSymbols symbols(file, section_type);
  for (std::size_t i = 0; i < symbols.count(); ++i) {
    const auto symbol = symbols.at(i);
    if (!symbol || GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF) {
      continue;
    }
    const std::string_view text = symbols.name(*symbol);
    if (text.substr(0, text.find('@')) == variable) {
      return symbol->st_value;
    }
  }
  return std::nullopt;
}

// As libelf counts them; 0 when their size is not that of its class.
std::size_t relocation_count(const ElfFile& file, const GElf_Shdr& header, const Elf_Data& data) {
  const std::size_t size_bytes = ::gelf_fsize(file.handle(), ELF_T_RELA, 1, EV_CURRENT);
  const bool is_usual = size_bytes > 0 && header.sh_entsize == size_bytes;
  return is_usual ? data.d_size / size_bytes : 0;
}

// Of the first `count` relocations.
std::optional<std::uint64_t> addend_at(const ElfFile& file,
                                       Elf_Data* relocations,
                                       std::size_t count,
                                       std::uint64_t svma) {
  const unsigned relative = file.machine() == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  GElf_Rela entry;
  for (std::size_t i = 0; i < count; ++i) {
    if (::gelf_getrela(relocations, static_cast<int>(i), &entry) == nullptr) {
      break;
    }
    if (entry.r_offset == svma && GELF_R_TYPE(entry.r_info) == relative) {
      return static_cast<std::uint64_t>(entry.r_addend);
    }
  }
  return std::nullopt;
}

// What the loader will put there: the load bias + the addend.
std::optional<std::uint64_t> relocated_value(const ElfFile& file, std::uint64_t svma) {
  // Of all sections together, which may be the same bytes: the largest programs have two million.
  std::size_t most = std::size_t{1} << 23U;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(file.handle(), section)) != nullptr) {
    GElf_Shdr header;
    Elf_Data* data = nullptr;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA ||
        (data = ::elf_getdata(section, nullptr)) == nullptr) {
      continue;
    }
    const std::size_t count = std::min(relocation_count(file, header, *data), most);
    most -= count;
    if (const auto addend = addend_at(file, data, count, svma)) {
      return addend;
    }
  }
  return std::nullopt;
}

// For a program that is loaded where the linker put it.
std::optional<std::uint64_t> stored_value(const ElfFile& file, std::uint64_t svma) {
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(file.handle(), section)) != nullptr) {
    ElfFile::Section place{.handle = section, .header = {}};
    // Sections that are not loaded, such as those of debug information, have addresses from 0 on.
    if (::gelf_getshdr(section, &place.header) == nullptr ||
        (place.header.sh_flags & SHF_ALLOC) == 0 || svma < place.header.sh_addr ||
        svma - place.header.sh_addr >= place.header.sh_size) {
      continue;
    }
    const auto bytes = place.content();
    const std::uint64_t at = svma - place.header.sh_addr;
    std::uint64_t value = 0;
    if (at <= bytes.size() && bytes.size() - at >= sizeof(value)) {
      std::memcpy(&value, bytes.data() + at, sizeof(value));
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> initial_target(const ElfFile& file, std::string_view variable) {
  auto svma = svma_of_variable(file, SHT_DYNSYM, variable);
  svma = svma ? svma : svma_of_variable(file, SHT_SYMTAB, variable);
  if (!svma) {
    return std::nullopt;
  }
  auto value = relocated_value(file, *svma);
  value = value ? value : stored_value(file, *svma);
  return value && *value != 0 ? file_offset_of(file, *value) : std::nullopt;
}

}  // namespace memtrace
