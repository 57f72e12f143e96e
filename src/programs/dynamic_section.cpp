#include "programs/dynamic_section.h"

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

}  // namespace

std::optional<DynamicSection> read_dynamic_section(const std::string& path) {
  constexpr int kMaxEntries = 4096;  // far above what any linker writes
  const auto file = ElfFile::open(path);
  const auto section = file.ok() ? file.value().section_of_type(SHT_DYNAMIC) : std::nullopt;
  Elf_Data* data = section ? ::elf_getdata(section->handle, nullptr) : nullptr;
  if (data == nullptr) {
    return std::nullopt;
  }
  DynamicSection dynamic;
  dynamic.machine = file.value().machine();
  GElf_Dyn entry;
  for (int i = 0; i < kMaxEntries && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_NULL) {
      break;
    }
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) {
      continue;
    }
    const char* name =
        ::elf_strptr(file.value().handle(), section->header.sh_link, entry.d_un.d_val);
    add(entry.d_tag, name == nullptr ? "" : name, dynamic);
  }
  return dynamic;
}

}  // namespace memtrace
