#include "symbolize/debug/dwarf_file.h"

#include <elfutils/libdwelf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "os/mapping.h"
#include "symbolize/elf/build_id.h"
#include "symbolize/elf/debug_files.h"

namespace memtrace {
namespace {

constexpr const char* kDebugDirectory = "/usr/lib/debug";

// "ZLIB" and the size in big-endian order, before compression was part of ELF (GNU binutils 2.25).
std::uint64_t old_unpacked_bytes(std::span<const std::byte> content) {
  constexpr std::size_t kMagicBytes = 4;
  constexpr std::size_t kHeaderBytes = 12;
  std::uint64_t size_bytes = 0;
  if (content.size() >= kHeaderBytes && std::memcmp(content.data(), "ZLIB", kMagicBytes) == 0) {
    for (const std::byte byte : content.subspan(kMagicBytes, kHeaderBytes - kMagicBytes)) {
      size_bytes = size_bytes << 8U | std::to_integer<std::uint64_t>(byte);
    }
  }
  return size_bytes;
}

// libdw unpacks all that begins with .debug or .zdebug when it opens a file: what that will take.
std::uint64_t unpacked_bytes(const ElfFile& file) {
  std::size_t names = 0;
  ::elf_getshdrstrndx(file.handle(), &names);
  std::uint64_t sum_bytes = 0;
  ElfFile::Section section;
  while ((section.handle = ::elf_nextscn(file.handle(), section.handle)) != nullptr) {
    GElf_Chdr compression;
    if (::gelf_getshdr(section.handle, &section.header) == nullptr) {
      continue;
    }
    const char* name = ::elf_strptr(file.handle(), names, section.header.sh_name);
    const bool is_old = name != nullptr && std::string_view(name).starts_with(".zdebug");
    std::uint64_t size_bytes = is_old ? old_unpacked_bytes(section.content()) : 0;
    if ((section.header.sh_flags & SHF_COMPRESSED) != 0 &&
        ::gelf_getchdr(section.handle, &compression) != nullptr) {
      size_bytes = compression.ch_size;
    }
    sum_bytes += std::min(size_bytes, UINT64_MAX - sum_bytes);
  }
  return sum_bytes;
}

// DWARF without anything in it. libdw looks for a common file by itself, opens what it finds and
// asks servers, unless it has been given one.
ElfFile empty_dwarf() {
  static constexpr auto kNames = std::to_array("\0.debug_line\0.shstrtab");

  struct Image {
    Elf64_Ehdr header{};
    std::array<Elf64_Shdr, 3> sections{};
    std::array<char, kNames.size()> names = kNames;
    std::array<char, 8> line{};
  } image;

  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_ident[EI_VERSION] = EV_CURRENT;
  image.header.e_type = ET_DYN;
  image.header.e_machine = EM_X86_64;
  image.header.e_version = EV_CURRENT;
  image.header.e_ehsize = sizeof(Elf64_Ehdr);
  image.header.e_shoff = offsetof(Image, sections);
  image.header.e_shentsize = sizeof(Elf64_Shdr);
  image.header.e_shnum = 3;
  image.header.e_shstrndx = 2;
  Elf64_Shdr& line = image.sections[1];
  line.sh_name = 1;
  line.sh_type = SHT_PROGBITS;
  line.sh_offset = offsetof(Image, line);
  line.sh_size = sizeof(image.line);
  line.sh_addralign = 1;
  Elf64_Shdr& names = image.sections[2];
  names.sh_name = sizeof(".debug_line") + 1;
  names.sh_type = SHT_STRTAB;
  names.sh_offset = offsetof(Image, names);
  names.sh_size = sizeof(kNames);
  names.sh_addralign = 1;
  const auto bytes = std::as_bytes(std::span(&image, 1));
  return ElfFile::from_image({bytes.begin(), bytes.end()}).take();
}

// By build id as other debug files, or by the name in .gnu_debugaltlink, which counts from the
// folder of the file that has it.
std::optional<ElfFile> find_common_file(const ElfFile& file,
                                        const std::string& name,
                                        const std::string& build_id) {
  if (auto found = find_debug_file_by_build_id(build_id, {.debug_directory = kDebugDirectory})) {
    return found;
  }
  const std::string folder = file.path().substr(0, file.path().rfind('/') + 1);
  auto opened = ElfFile::open(name.starts_with('/') ? name : folder + name);
  const bool is_it = opened.ok() && same_build_id(opened.value().build_id(), build_id);
  return is_it ? std::optional(opened.take()) : std::nullopt;
}

// libdw's tables end the program where they find no memory (lib/dynamicsizehash_concurrent.c): it
// is asked for nothing when there is so little.
constexpr std::size_t kRoomBytes = std::size_t{128} << 20U;

// libdw would end the program, and leave its probes behind. It holds no lock where it calls this
// (libdw_alloc.c).
[[gnu::noreturn]] void throw_bad_alloc() {
  throw std::bad_alloc();
}

}  // namespace

Result<DwarfFile> DwarfFile::open(const ElfFile& file) {
  DwarfFile opened;
  const std::uint64_t size_bytes = unpacked_bytes(file);
  if (!opened.memory_.grow(size_bytes)) {
    return Error{"its debug information takes " + print_bytes(size_bytes) + " unpacked", 0, ""};
  }
  if (!has_room_for(size_bytes + kRoomBytes)) {
    return Error{"there is no memory for its debug information", 0, ""};
  }
  opened.dwarf_.reset(::dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr));
  if (opened.dwarf_ == nullptr) {
    return Error{"", 0, ""};  // none, in most cases
  }
  (void)::dwarf_new_oom_handler(opened.dwarf_.get(), &throw_bad_alloc);
  opened.set_common_file(file);
  return opened;
}

void DwarfFile::set_common_file(const ElfFile& file) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t id_bytes = ::dwelf_dwarf_gnu_debugaltlink(dwarf_.get(), &name, &id);
  if (id_bytes <= 0) {
    return;
  }
  const std::string build_id =
      to_hex({static_cast<const std::byte*>(id), static_cast<std::size_t>(id_bytes)});
  common_file_ = find_common_file(file, name, build_id);
  if (!common_file_ || common_file_->section(".gnu_debugaltlink")) {
    common_file_ = empty_dwarf();
  }
  auto common = open(*common_file_);
  if (!common.ok()) {
    common_file_ = empty_dwarf();
    common = open(*common_file_);
  }
  if (common.ok()) {
    common_ = std::make_unique<DwarfFile>(common.take());
    ::dwarf_setalt(dwarf_.get(), common_->handle());
  }
}

}  // namespace memtrace
