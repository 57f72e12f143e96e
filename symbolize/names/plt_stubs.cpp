#include "symbolize/names/plt_stubs.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "symbolize/elf/elf_symbols.h"

namespace memtrace {

namespace {

using SlotNames = std::unordered_map<std::uint64_t, const char*>;

// Far above what any program imports.
constexpr std::size_t kMaxSlots = std::size_t{1} << 20U;
constexpr std::size_t kMaxStubBytes = kMaxSlots * 16;

void add_slots(const ElfFile& file, std::string_view section_name, SlotNames& names) {
  const auto relocations = file.section(section_name);
  ElfSymbols symbols(file, SHT_DYNSYM);
  Elf_Data* data = relocations ? ::elf_getdata(relocations->handle, nullptr) : nullptr;
  if (data == nullptr || data->d_type != ELF_T_RELA) {
    return;
  }
  const std::size_t count = std::min(data->d_size / sizeof(Elf64_Rela), ElfSymbols::kMost);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Rela entry;
    if (::gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) {
      return;
    }
    const auto type = GELF_R_TYPE(entry.r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) {
      continue;
    }
    const auto symbol = symbols.at(GELF_R_SYM(entry.r_info));
    const char* name = symbol ? symbols.name(*symbol) : "";
    if (*name != '\0' && names.size() < kMaxSlots) {
      names.emplace(entry.r_offset, name);
    }
  }
}

// The slot that `jmp *displacement(%rip)`, ff 25 and four bytes, reads in a stub; 0 without one.
std::uint64_t slot_of(std::span<const std::byte> stub, std::uint64_t svma) {
  constexpr std::size_t kJumpBytes = 6;
  for (std::size_t at = 0; at + kJumpBytes <= stub.size(); ++at) {
    if (stub[at] != std::byte{0xff} || stub[at + 1] != std::byte{0x25}) {
      continue;
    }
    std::int32_t displacement = 0;
    std::memcpy(&displacement, &stub[at + 2], sizeof(displacement));
    return svma + at + kJumpBytes + static_cast<std::uint64_t>(std::int64_t{displacement});
  }
  return 0;
}

void add_stubs(const ElfFile& file,
               std::string_view section_name,
               const SlotNames& names,
               SymbolTable& table) {
  const auto section = file.section(section_name);
  if (!section) {
    return;
  }
  const auto code = section->content();
  const std::uint64_t stub_bytes = section->header.sh_entsize == 8 ? 8 : 16;
  const std::size_t limit = std::min(code.size(), kMaxStubBytes);
  for (std::uint64_t at = 0; at + stub_bytes <= limit; at += stub_bytes) {
    const std::uint64_t start = section->header.sh_addr + at;
    const auto name = names.find(slot_of(code.subspan(at, stub_bytes), start));
    if (name != names.end()) {
      table.add({.start = start,
                 .limit = start + stub_bytes,
                 .section_limit = start + stub_bytes,
                 .name = name->second,
                 .is_plt_stub = true,
                 .rank = 0});
    }
  }
}

}  // namespace

void add_plt_stubs(const ElfFile& file, SymbolTable& table) {
  if (file.machine() != EM_X86_64) {
    return;
  }
  SlotNames names;
  add_slots(file, ".rela.plt", names);
  add_slots(file, ".rela.dyn", names);
  // With Intel CET or -z ibtplt calls go to .plt.sec; .plt.got has functions whose address is
  // taken too.
  for (const std::string_view section_name : {".plt", ".plt.sec", ".plt.got"}) {
    add_stubs(file, section_name, names, table);
  }
}

}  // namespace memtrace
