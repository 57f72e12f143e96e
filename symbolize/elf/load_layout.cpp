#include "symbolize/elf/load_layout.h"

namespace memtrace {

std::optional<std::uint64_t> file_offset_of(const ElfFile& file, std::uint64_t svma) {
  std::size_t count = 0;
  if (::elf_getphdrnum(file.handle(), &count) != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program;
    if (::gelf_getphdr(file.handle(), static_cast<int>(i), &program) != nullptr &&
        program.p_type == PT_LOAD && svma >= program.p_vaddr &&
        svma - program.p_vaddr < program.p_filesz) {
      return svma - program.p_vaddr + program.p_offset;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
