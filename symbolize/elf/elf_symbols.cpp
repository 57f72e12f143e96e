#include "symbolize/elf/elf_symbols.h"

#include <algorithm>
#include <cstring>

namespace memtrace {
namespace {

constexpr std::size_t kMaxNamedBytes = std::size_t{512} << 20U;

// Section names' text, and not elf_strptr(3): it looks for the table's last NUL for each name.
std::string_view text_of(const ElfFile& file, std::size_t section_index) {
  ElfFile::Section section;
  section.handle = ::elf_getscn(file.handle(), section_index);
  if (section.handle == nullptr || ::gelf_getshdr(section.handle, &section.header) == nullptr ||
      section.header.sh_type != SHT_STRTAB) {
    return {};
  }
  const auto bytes = section.content();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ElfSymbols::ElfSymbols(const ElfFile& file, std::uint32_t section_type) {
  const auto section = file.section_of_type(section_type);
  const std::size_t size_bytes = ::gelf_fsize(file.handle(), ELF_T_SYM, 1, EV_CURRENT);
  if (!section || size_bytes == 0 || section->header.sh_entsize != size_bytes) {
    return;
  }
  data_ = ::elf_getdata(section->handle, nullptr);
  if (data_ != nullptr && data_->d_buf != nullptr) {
    count_ = std::min(data_->d_size / size_bytes, kMost);
    names_ = text_of(file, section->header.sh_link);
  }
}

std::optional<GElf_Sym> ElfSymbols::at(std::size_t index) const {
  GElf_Sym symbol;
  const bool is_there =
      index < count_ && ::gelf_getsym(data_, static_cast<int>(index), &symbol) != nullptr;
  return is_there ? std::optional(symbol) : std::nullopt;
}

const char* ElfSymbols::name(const GElf_Sym& symbol) {
  if (symbol.st_name >= names_.size() || named_bytes_ >= kMaxNamedBytes) {
    return "";
  }
  const std::string_view rest = names_.substr(symbol.st_name, kMaxNameBytes);
  const std::size_t length = ::strnlen(rest.data(), rest.size());
  named_bytes_ += length;
  return length < rest.size() ? rest.data() : "";
}

}  // namespace memtrace
