#include "symbolize/elf/elf_file.h"

#include <elfutils/libdwelf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "symbolize/elf/build_id.h"

namespace memtrace {

namespace {

// libelf makes room for as many as a file says it has. Objects that are not linked yet have most, a
// few for each function.
constexpr std::uint64_t kMaxSections = std::uint64_t{1} << 18U;
// Linux executes no file with more than 64 KiB of headers (fs/binfmt_elf.c, load_elf_phdrs()).
constexpr std::size_t kMaxSegments = (std::size_t{1} << 16U) / sizeof(Elf64_Phdr);
// What libelf copies: tables that lie askew, or in the other order of bytes. Linkers align them.
constexpr std::uint64_t kMaxCopiedBytes = std::uint64_t{16} << 20U;

// A linker signs its name and version.
constexpr std::size_t kMaxCommentBytes = std::size_t{64} << 10U;

// The number in the header, or, when that has no room for it, in the first section's header (gABI:
// e_shnum). 0 for what is no 64-bit ELF file: a 32-bit one cannot be large.
std::uint64_t claimed_sections(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) {
    return 0;
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  Elf64_Shdr first;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shnum != 0 ||
      header.e_shoff > bytes.size() || bytes.size() - header.e_shoff < sizeof(first)) {
    return header.e_shnum;
  }
  std::memcpy(&first, bytes.data() + header.e_shoff, sizeof(first));
  return first.sh_size;
}

// libelf notes in the table what it has unpacked (elf_compress()).
std::span<const std::byte> section_table(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) {
    return {};
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::uint64_t table_bytes =
      std::max<std::uint64_t>(claimed_sections(bytes), 1) * sizeof(Elf64_Shdr);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff > bytes.size()) {
    return {};
  }
  const std::uint64_t rest_bytes = bytes.size() - header.e_shoff;
  return bytes.subspan(header.e_shoff, std::min(table_bytes, rest_bytes));
}

const ElfFile::Segment* segment_at(const std::vector<ElfFile::Segment>& segments,
                                   std::uint64_t file_offset) {
  const ElfFile::Segment* found = nullptr;
  for (const auto& segment : segments) {
    const bool holds = file_offset >= segment.file_offset &&
                       file_offset - segment.file_offset < segment.file_bytes;
    if (holds && (found == nullptr || segment.executable)) {
      found = &segment;
    }
  }
  return found;
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile file;
  file.path_ = path;
  auto opened = open_foreign_file(path);
  if (!opened.ok()) {
    return opened.take_error();
  }
  auto bytes = ForeignBytes::hold(opened.value(), path, kMaxBytes);
  if (!bytes.ok()) {
    return bytes.take_error();
  }
  file.bytes_ = bytes.take();
  // All of it costs nothing, but a kernel that promises no memory that it does not have (proc(5),
  // overcommit_memory 2) counts it.
  if (!ForeignBytes::allow_writing(file.bytes_.bytes()).ok()) {
    TRY(ForeignBytes::allow_writing(section_table(file.bytes_.bytes())));
  }
  TRY(file.open_bytes(file.bytes_.bytes()));
  return file;
}

Result<ElfFile> ElfFile::from_image(std::vector<std::byte> image) {
  ElfFile file;
  file.image_ = std::move(image);
  TRY(file.open_bytes(file.image_));
  return file;
}

Result<> ElfFile::open_bytes(std::span<const std::byte> bytes) {
  if (claimed_sections(bytes) > kMaxSections) {
    return Error{shown_path() + ": has more sections than memtrace reads", 0, ""};
  }
  ::elf_version(EV_CURRENT);
  // libelf's own type: it writes to the section table and nowhere else.
  auto* image = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  elf_.reset(bytes.empty() ? nullptr : ::elf_memory(image, bytes.size()));
  TRY(read_headers());
  return check_sections();
}

Result<> ElfFile::read_headers() {
  GElf_Ehdr header;
  const bool is_elf = elf_ != nullptr && ::elf_kind(elf_.get()) == ELF_K_ELF;
  if (!is_elf || ::gelf_getehdr(elf_.get(), &header) == nullptr) {
    return Error{shown_path() + ": not an ELF file", 0, ""};
  }
  machine_ = header.e_machine;
  std::size_t count = 0;
  if (::elf_getphdrnum(elf_.get(), &count) != 0) {
    return kDone;  // without segments no offset has an address, which is no error
  }
  if (count > kMaxSegments) {
    return Error{shown_path() + ": has more segments than Linux loads", 0, ""};
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program;
    if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &program) == nullptr) {
      break;
    }
    if (program.p_type == PT_LOAD) {
      segments_.push_back({.file_offset = program.p_offset,
                           .file_bytes = program.p_filesz,
                           .svma = program.p_vaddr,
                           .memory_bytes = program.p_memsz,
                           .executable = (program.p_flags & PF_X) != 0});
    }
  }
  return kDone;
}

bool ElfFile::is_copied(const GElf_Shdr& header) const {
  const bool is_table = header.sh_type < SHT_NUM ||
                        (header.sh_type >= SHT_GNU_HASH && header.sh_type <= SHT_GNU_versym);
  if (!is_table || header.sh_type == SHT_NULL || header.sh_type == SHT_PROGBITS ||
      header.sh_type == SHT_STRTAB || header.sh_type == SHT_NOBITS) {
    return false;
  }
  const char* ident = ::elf_getident(elf_.get(), nullptr);
  const std::uint64_t alignment = ::gelf_getclass(elf_.get()) == ELFCLASS64 ? 8 : 4;
  return header.sh_offset % alignment != 0 || ident == nullptr || ident[EI_DATA] != ELFDATA2LSB;
}

// For each name that libelf and libdw ask for, libelf looks for the last NUL of all names.
bool ElfFile::has_last_name_an_end() const {
  std::size_t index = 0;
  Section names;
  if (::elf_getshdrstrndx(elf_.get(), &index) != 0 ||
      (names.handle = ::elf_getscn(elf_.get(), index)) == nullptr ||
      ::gelf_getshdr(names.handle, &names.header) == nullptr ||
      names.header.sh_type != SHT_STRTAB) {
    return true;  // there are no names
  }
  const auto bytes = names.content();
  return bytes.empty() || bytes.back() == std::byte{0};
}

// libelf unpacks names that are compressed, whatever their size. Only DWARF is ever compressed
// (gABI: SHF_COMPRESSED), and open_dwarf() looks how large it is.
Result<> ElfFile::check_sections() const {
  std::uint64_t copied_bytes = 0;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    copied_bytes += is_copied(header) ? std::min(header.sh_size, kMaxCopiedBytes + 1) : 0;
    if (copied_bytes > kMaxCopiedBytes) {
      return Error{shown_path() + ": its tables are large and lie askew", 0, ""};
    }
    if ((header.sh_flags & SHF_COMPRESSED) != 0 &&
        (header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_ALLOC) != 0)) {
      return Error{shown_path() + ": compresses more than DWARF", 0, ""};
    }
  }
  return has_last_name_an_end()
             ? Result<>(kDone)
             : Error{shown_path() + ": the names of its sections do not end", 0, ""};
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  const ssize_t size_bytes = ::dwelf_elf_gnu_build_id(elf_.get(), &bytes);
  if (size_bytes <= 0) {
    return "";
  }
  return to_hex({static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size_bytes)});
}

std::optional<std::uint64_t> ElfFile::svma_of(std::uint64_t file_offset) const {
  if (const Segment* segment = segment_at(segments_, file_offset)) {
    return file_offset - segment->file_offset + segment->svma;
  }
  return svma_by_layout(file_offset);
}

// objcopy --only-keep-debug keeps the addresses of segments, but neither offsets nor sizes. GNU ld
// lays code out so that offset and address differ by the base address only; LLD and mold do not,
// and sign the .comment section.
std::optional<std::uint64_t> ElfFile::svma_by_layout(std::uint64_t file_offset) const {
  const std::uint64_t svma = file_offset + base_svma();
  for (const Segment& segment : segments_) {
    const bool emptied = segment.executable && segment.file_bytes == 0;
    if (!emptied || svma < segment.svma || svma - segment.svma >= segment.memory_bytes) {
      continue;
    }
    const auto comment = section(".comment");
    const auto bytes = comment ? comment->content() : std::span<const std::byte>();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                std::min(bytes.size(), kMaxCommentBytes));
    const bool other_linker =
        text.find("LLD") != std::string_view::npos || text.find("mold") != std::string_view::npos;
    return other_linker ? std::nullopt : std::optional(svma);
  }
  return std::nullopt;
}

std::optional<ElfFile::Section> ElfFile::section(std::string_view name) const {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf_.get(), &names) != 0) {
    return std::nullopt;
  }
  Section section;
  while ((section.handle = ::elf_nextscn(elf_.get(), section.handle)) != nullptr) {
    if (::gelf_getshdr(section.handle, &section.header) == nullptr) {
      continue;
    }
    const char* text = ::elf_strptr(elf_.get(), names, section.header.sh_name);
    if (text != nullptr && name == text) {
      return section;
    }
  }
  return std::nullopt;
}

std::optional<ElfFile::Section> ElfFile::section_of_type(std::uint32_t type) const {
  Section section;
  while ((section.handle = ::elf_nextscn(elf_.get(), section.handle)) != nullptr) {
    if (::gelf_getshdr(section.handle, &section.header) != nullptr &&
        section.header.sh_type == type) {
      return section;
    }
  }
  return std::nullopt;
}

std::span<const std::byte> ElfFile::Section::content() const {
  if (header.sh_type == SHT_NOBITS) {
    return {};
  }
  const Elf_Data* data = ::elf_getdata(handle, nullptr);
  if (data == nullptr || data->d_buf == nullptr) {
    return {};
  }
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

}  // namespace memtrace
