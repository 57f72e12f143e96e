#include "symbolize/code/function_table.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "os/foreign_file.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/load_layout.h"
#include "symbolize/names/demangle.h"
#include "symbolize/names/symbol_table.h"

namespace memtrace {
namespace {

// No function is as long; more is a damaged symbol. Decoded, code takes 90 times its bytes.
constexpr std::uint64_t kCodeLimitBytes = std::uint64_t{1} << 20U;

// .symtab of some linkers has "memcpy@@GLIBC_2.14".
std::string without_version(std::string_view name) {
  return std::string(name.substr(0, name.find('@')));
}

bool is_code(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_value != 0 && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         (type == STT_FUNC || type == STT_GNU_IFUNC);
}

// A program that nobody loads libraries for: it has no dynamic linker and, unlike a library, no
// name for others to link to.
bool is_statically_linked(const ElfFile& file) {
  std::size_t count = 0;
  ::elf_getphdrnum(file.handle(), &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program;
    if (::gelf_getphdr(file.handle(), static_cast<int>(i), &program) != nullptr &&
        program.p_type == PT_INTERP) {
      return false;
    }
  }
  return !file.section_of_type(SHT_DYNSYM);
}

// People know the names with the fewest underscores in front.
bool is_better_name(const std::string& left, const std::string& right) {
  const auto key = [](const std::string& name) {
    return std::tuple(name.find_first_not_of('_'), name.size(), std::string_view{name});
  };
  return key(left) < key(right);
}

bool matches(const Function& function, std::string_view pattern) {
  return std::any_of(function.names.begin(), function.names.end(), [&](const std::string& name) {
    return glob_match(pattern, name);
  });
}

// "(anonymous namespace)::take(int) const" without the arguments and what follows them.
std::string_view without_arguments(std::string_view name) {
  const std::size_t last = name.rfind(')');
  int depth = 0;
  for (std::size_t i = last == std::string_view::npos ? 0 : last + 1; i-- > 0;) {
    depth += name[i] == ')' ? 1 : 0;
    depth -= name[i] == '(' ? 1 : 0;
    if (depth == 0) {
      return name.substr(0, i);
    }
  }
  return name;
}

// "Pool::take" is meant to find "Pool::take(unsigned long)".
bool matches_demangled(const Function& function, std::string_view pattern) {
  return std::any_of(function.names.begin(), function.names.end(), [&](const std::string& name) {
    if (!name.starts_with("_Z") && !name.starts_with("_R")) {
      return false;
    }
    const std::string readable = demangle(name);
    return glob_match(pattern, readable) || glob_match(pattern, without_arguments(readable));
  });
}

}  // namespace

Result<FunctionTable> FunctionTable::load(const std::string& path) {
  return load(path, path, {.debug_directory = "/usr/lib/debug"});
}

Result<FunctionTable> FunctionTable::load(const std::string& path,
                                          const std::string& mapped_path,
                                          const DebugPlaces& places) {
  auto file = ElfFile::open(path);
  if (!file.ok()) {
    return file.take_error();
  }
  FunctionTable table;
  table.path_ = path;
  table.machine_ = file.value().machine();
  table.is_static_ = is_statically_linked(file.value());
  table.add_section(file.value(), file.value(), SHT_SYMTAB);
  table.add_section(file.value(), file.value(), SHT_DYNSYM);
  if (!file.value().section_of_type(SHT_SYMTAB)) {
    if (const auto debug = find_debug_file(file.value(), mapped_path, places)) {
      table.add_section(*debug, file.value(), SHT_SYMTAB);
    }
  }
  table.merge_aliases();
  return table;
}

// Prelinking moves a file away from the addresses in its debug file.
void FunctionTable::add_section(const ElfFile& source,
                                const ElfFile& file,
                                std::uint32_t section_type) {
  const std::uint64_t bias = file.base_svma() - source.base_svma();
  ElfSymbols symbols(source, section_type);
  for (std::size_t i = 0; i < symbols.count(); ++i) {
    const auto symbol = symbols.at(i);
    if (!symbol || !is_code(*symbol)) {
      continue;
    }
    const std::string_view name = symbols.name(*symbol);
    const auto offset = file_offset_of(file, symbol->st_value + bias);
    if (!name.empty() && offset) {
      functions_.push_back({.names = {without_version(name)},
                            .svma = symbol->st_value + bias,
                            .file_offset = *offset,
                            .size_bytes = symbol->st_size,
                            .is_ifunc = GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC});
    }
  }
}

void FunctionTable::merge_aliases() {
  std::stable_sort(functions_.begin(), functions_.end(), [](const auto& left, const auto& right) {
    return left.svma < right.svma;
  });
  std::vector<Function> merged;
  for (Function& function : functions_) {
    if (merged.empty() || merged.back().svma != function.svma) {
      merged.push_back(std::move(function));
      continue;
    }
    Function& known = merged.back();
    known.names.push_back(std::move(function.names.front()));
    known.size_bytes = std::max(known.size_bytes, function.size_bytes);
    known.is_ifunc = known.is_ifunc || function.is_ifunc;
  }
  for (Function& function : merged) {
    auto& names = function.names;
    std::sort(names.begin(), names.end(), is_better_name);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  functions_ = std::move(merged);
}

Result<std::vector<Function>> FunctionTable::find(std::string_view pattern) const {
  std::vector<Function> found;
  std::copy_if(
      functions_.begin(), functions_.end(), std::back_inserter(found), [&](const Function& one) {
        return matches(one, pattern);
      });
  if (found.empty()) {  // only now: demangling all names of a large program takes its time
    std::copy_if(
        functions_.begin(), functions_.end(), std::back_inserter(found), [&](const Function& one) {
          return matches_demangled(one, pattern);
        });
  }
  if (found.empty()) {
    return unknown(pattern);
  }
  return found;
}

Error FunctionTable::unknown(std::string_view pattern) const {
  if (functions_.empty()) {
    return Error{path_ + (is_static_ ? ": statically linked, and without symbols: its functions "
                                       "cannot be found by name"
                                     : ": has no symbols: its functions cannot be found by name"),
                 0,
                 "give it its debug file (/usr/lib/debug/.build-id), or build it without -s and "
                 "do not strip it"};
  }
  std::vector<std::string> names;
  for (const Function& function : functions_) {
    names.insert(names.end(), function.names.begin(), function.names.end());
  }
  const auto near = nearest(pattern, names);
  return Error{path_ + ": no function '" + std::string(pattern) + "'",
               0,
               near.empty() ? "nm -D " + path_ + " lists what it exports"
                            : "did you mean " + join(near, ", ") + "?",
               ErrorKind::Usage};
}

Result<std::vector<std::byte>> code_bytes(const std::string& path,
                                          std::uint64_t file_offset,
                                          std::uint64_t size_bytes) {
  const auto file = open_foreign_file(path);
  if (!file.ok()) {
    return file.error();
  }
  std::vector<std::byte> code(std::min(size_bytes, kCodeLimitBytes));
  const auto got = read_at(file.value().fd, code, file_offset);
  if (!got.ok() || got.value() < code.size()) {
    return Error{"read(" + path + ")",
                 got.ok() ? 0 : got.error().errno_value,
                 "the file is shorter than it says"};
  }
  return code;
}

}  // namespace memtrace
