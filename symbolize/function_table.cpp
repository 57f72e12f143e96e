#include "symbolize/function_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/text.h"
#include "base/unique_fd.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_file.h"

namespace memtrace {
namespace {

using ByOffset = std::map<std::uint64_t, Function>;

// "malloc@@GLIBC_2.2.5": .symtab of a library carries the version in the name.
std::string without_version(std::string_view name) {
  return std::string(name.substr(0, name.find('@')));
}

void add_symbol(ByOffset& functions,
                const ElfFile& file,
                const GElf_Sym& symbol,
                const char* name) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  const auto offset = is_function && symbol.st_shndx != SHN_UNDEF
                          ? file.file_offset_of(symbol.st_value)
                          : std::nullopt;
  if (!offset || name == nullptr || *name == '\0') {
    return;
  }
  Function& function = functions[*offset];
  function.file_offset = *offset;
  function.size_bytes = std::max<std::uint64_t>(function.size_bytes, symbol.st_size);
  function.is_ifunc = function.is_ifunc || type == STT_GNU_IFUNC;
  const std::string plain = without_version(name);
  if (std::find(function.names.begin(), function.names.end(), plain) == function.names.end()) {
    function.names.push_back(plain);
  }
}

// Symbols of `tables`, which may be the debug file of `file`: `bias` is what its addresses lack.
void add_symbols(ByOffset& functions,
                 const ElfFile& file,
                 const ElfFile& tables,
                 std::uint64_t bias) {
  for (const std::uint32_t type : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{SHT_SYMTAB}}) {
    const auto section = tables.section_of_type(type);
    Elf_Data* data = section ? ::elf_getdata(section->handle, nullptr) : nullptr;
    if (data == nullptr || section->header.sh_entsize == 0) {
      continue;
    }
    const std::size_t count = data->d_size / section->header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (::gelf_getsym(data, static_cast<int>(i), &symbol) != nullptr) {
        symbol.st_value += bias;
        add_symbol(functions,
                   file,
                   symbol,
                   ::elf_strptr(tables.handle(), section->header.sh_link, symbol.st_name));
      }
    }
  }
}

}  // namespace

Result<FunctionTable> FunctionTable::load(const std::string& path, const std::string& mapped_path) {
  auto file = ElfFile::open(path);
  if (!file.ok()) {
    return file.take_error();
  }
  ByOffset functions;
  add_symbols(functions, file.value(), file.value(), 0);
  if (!file.value().section_of_type(SHT_SYMTAB)) {
    if (const auto debug =
            find_debug_file(file.value(), mapped_path, {.debug_directory = "/usr/lib/debug"})) {
      add_symbols(functions, file.value(), *debug, file.value().base_svma() - debug->base_svma());
    }
  }
  FunctionTable table;
  table.path_ = mapped_path;
  for (auto& [offset, function] : functions) {
    table.functions_.push_back(std::move(function));
  }
  return table;
}

std::vector<const Function*> FunctionTable::find(std::string_view pattern) const {
  std::vector<const Function*> found;
  for (const Function& function : functions_) {
    const auto matches = [pattern](const std::string& name) { return glob_match(pattern, name); };
    if (std::any_of(function.names.begin(), function.names.end(), matches)) {
      found.push_back(&function);
    }
  }
  return found;
}

Result<std::vector<const Function*>> FunctionTable::require(std::string_view pattern) const {
  auto found = find(pattern);
  if (!found.empty()) {
    return found;
  }
  if (functions_.empty()) {
    return Error{path_ + ": no symbols",
                 0,
                 "the file is stripped: install its debug symbols, or name a library instead",
                 ErrorKind::Usage};
  }
  std::set<std::string> names;
  for (const Function& function : functions_) {
    names.insert(function.names.begin(), function.names.end());
  }
  const std::vector<std::string> all(names.begin(), names.end());
  const auto near = nearest(pattern, all);
  return Error{path_ + ": no function '" + std::string(pattern) + "'",
               0,
               near.empty() ? "nm -D " + path_ + " lists its functions"
                            : "did you mean " + join(near, " or ") + "?",
               ErrorKind::Usage};
}

Result<std::vector<std::byte>> code_bytes(const std::string& path,
                                          std::uint64_t file_offset,
                                          std::size_t size_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return Error{"open(" + path + ")", errno, ""};
  }
  std::vector<std::byte> bytes(size_bytes);
  const ssize_t count =
      ::pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(file_offset));
  if (count < 0) {
    return Error{"read(" + path + ")", errno, ""};
  }
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

}  // namespace memtrace
