#include "symbolize/names/symbol_table.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/range_search.h"
#include "symbolize/names/demangle.h"

namespace memtrace {

namespace {

// Where the section of each index ends; 0 for those that hold no code.
std::vector<std::uint64_t> code_limits(const ElfFile& file) {
  std::vector<std::uint64_t> limits;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(file.handle(), section)) != nullptr) {
    GElf_Shdr header;
    const bool is_code =
        ::gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0;
    limits.resize(::elf_ndxscn(section) + 1);
    limits.back() = is_code ? header.sh_addr + header.sh_size : 0;
  }
  return limits;
}

std::uint8_t leading_underscores(std::string_view name) {
  const std::size_t count = std::min(name.find_first_not_of('_'), name.size());
  return static_cast<std::uint8_t>(std::min<std::size_t>(count, 7));
}

bool comes_before(const Symbol& left, const Symbol& right) {
  if (left.start != right.start) {
    return left.start < right.start;
  }
  return left.rank != right.rank ? left.rank < right.rank : std::strcmp(left.name, right.name) < 0;
}

}  // namespace

std::string Symbol::readable_name() const {
  return is_plt_stub ? demangle(name) + "@plt" : demangle(name);
}

// NOTYPE is what assembly has that says nothing; names with $ at their start are marks of ARM and
// RISC-V, for ranges of data and code.
bool is_function(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

// write, __write, __GI___write and __libc_write are one function: people know the exported name
// with the fewest underscores.
Symbol make_symbol(const GElf_Sym& source, const char* name) {
  const auto is_plain = GELF_ST_TYPE(source.st_info) == STT_NOTYPE ? 1U : 0U;
  const auto is_local = GELF_ST_BIND(source.st_info) == STB_LOCAL ? 1U : 0U;
  const auto is_weak = GELF_ST_BIND(source.st_info) == STB_WEAK ? 1U : 0U;
  const unsigned rank =
      is_plain << 6 | is_local << 5 | unsigned{leading_underscores(name)} << 1 | is_weak;
  return {.start = source.st_value,
          .limit = source.st_value + source.st_size,
          .section_limit = 0,
          .name = name,
          .is_plt_stub = false,
          .rank = static_cast<std::uint8_t>(rank)};
}

std::size_t SymbolTable::add_section(const ElfFile& file,
                                     std::uint32_t section_type,
                                     std::uint64_t bias) {
  ElfSymbols symbols(file, section_type);
  const auto limits = code_limits(file);
  const std::size_t before = symbols_.size();
  for (std::size_t i = 0; i < symbols.count(); ++i) {
    const auto source = symbols.at(i);
    if (!source || !is_function(*source)) {
      continue;
    }
    const std::uint64_t limit = source->st_shndx < limits.size() ? limits[source->st_shndx] : 0;
    const char* name = limit == 0 ? "" : symbols.name(*source);
    if (*name == '\0' || *name == '$') {
      continue;
    }
    Symbol symbol = make_symbol(*source, name);
    symbol.start += bias;
    symbol.limit += bias;
    symbol.section_limit = limit + bias;
    symbols_.push_back(symbol);
  }
  return symbols_.size() - before;
}

// One name stays for each address. A symbol without a size reaches to the next one.
void SymbolTable::sort() {
  std::sort(symbols_.begin(), symbols_.end(), comes_before);
  std::size_t kept = 0;
  for (const Symbol& symbol : symbols_) {
    if (kept > 0 && symbols_[kept - 1].start == symbol.start) {
      symbols_[kept - 1].limit = std::max(symbols_[kept - 1].limit, symbol.limit);
    } else {
      symbols_[kept++] = symbol;
    }
  }
  symbols_.resize(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    Symbol& symbol = symbols_[i];
    if (symbol.limit <= symbol.start) {
      const bool has_next = i + 1 < kept;
      symbol.limit =
          has_next ? std::min(symbols_[i + 1].start, symbol.section_limit) : symbol.section_limit;
    }
  }
}

const Symbol* SymbolTable::find(std::uint64_t svma) const {
  return find_covering(symbols_, svma);
}

}  // namespace memtrace
