#include "programs/dynamic_section.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

namespace {

void add(Elf64_Sxword tag, std::string text, DynamicSection& dynamic) {
  if (tag == DT_NEEDED) {
    dynamic.needed.push_back(std::move(text));
  } else {
    (tag == DT_RPATH ? dynamic.rpath : dynamic.runpath) = std::move(text);
  }
}

// Of all entries together. Each may name the same text, as long as the file is.
constexpr std::size_t kMaxTextBytes = std::size_t{256} * PATH_MAX;

// elf_strptr(3) looks for the table's last NUL for each name.
std::string name_at(std::span<const std::byte> names, std::uint64_t offset) {
  const auto rest = names.subspan(std::min<std::uint64_t>(offset, names.size()));
  const std::size_t room = std::min(rest.size(), kMaxTextBytes);
  const auto* text = reinterpret_cast<const char*>(rest.data());
  const std::size_t length = room == 0 ? 0 : ::strnlen(text, room);
  return length < room ? std::string(text, length) : std::string();
}

}  // namespace

std::optional<DynamicSection> read_dynamic_section(const std::string& path) {
  constexpr int kMaxEntries = 4096;  // far above what any linker writes
  const auto file = ElfFile::open(path);
  const auto section = file.ok() ? file.value().section_of_type(SHT_DYNAMIC) : std::nullopt;
  Elf_Data* data = section ? ::elf_getdata(section->handle, nullptr) : nullptr;
  if (data == nullptr) {
    return std::nullopt;
  }
  ElfFile::Section names;
  names.handle = ::elf_getscn(file.value().handle(), section->header.sh_link);
  const bool has_names = names.handle != nullptr &&
                         ::gelf_getshdr(names.handle, &names.header) != nullptr &&
                         names.header.sh_type == SHT_STRTAB;
  const auto text = has_names ? names.content() : std::span<const std::byte>();
  DynamicSection dynamic;
  dynamic.machine = file.value().machine();
  std::size_t text_bytes = 0;
  GElf_Dyn entry;
  for (int i = 0; i < kMaxEntries && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_NULL) {
      break;
    }
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) {
      continue;
    }
    std::string name = name_at(text, entry.d_un.d_val);
    text_bytes += name.size();
    if (text_bytes > kMaxTextBytes) {
      break;
    }
    add(entry.d_tag, std::move(name), dynamic);
  }
  return dynamic;
}

}  // namespace memtrace
