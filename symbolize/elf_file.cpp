#include "symbolize/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "symbolize/build_id.h"

namespace memtrace {

namespace {

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

  // Asked before opening: programs map devices too, and opening one may set something off.
  struct stat facts {};

  if (::stat(path.c_str(), &facts) != 0) {
    return Error{"open(" + path + ")", errno, ""};
  }
  if (!S_ISREG(facts.st_mode)) {
    return Error{path + ": not a file", 0, ""};
  }
  file.fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.fd_.valid()) {
    return Error{"open(" + path + ")", errno, ""};
  }
  ::elf_version(EV_CURRENT);
  file.elf_.reset(::elf_begin(file.fd_.get(), ELF_C_READ_MMAP, nullptr));
  TRY(file.read_headers());
  return file;
}

Result<ElfFile> ElfFile::from_image(std::vector<std::byte> image) {
  ElfFile file;
  file.image_ = std::move(image);
  ::elf_version(EV_CURRENT);
  file.elf_.reset(::elf_memory(reinterpret_cast<char*>(file.image_.data()), file.image_.size()));
  TRY(file.read_headers());
  return file;
}

Result<> ElfFile::read_headers() {
  GElf_Ehdr header;
  const bool is_elf = elf_ != nullptr && ::elf_kind(elf_.get()) == ELF_K_ELF;
  if (!is_elf || ::gelf_getehdr(elf_.get(), &header) == nullptr) {
    return Error{(path_.empty() ? "memory image" : path_) + ": not an ELF file", 0, ""};
  }
  machine_ = header.e_machine;
  std::size_t count = 0;
  if (::elf_getphdrnum(elf_.get(), &count) != 0) {
    return kDone;  // without segments no offset has an address, which is no error
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
    const auto bytes = comment ? content(*comment) : std::span<const std::byte>();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool other_linker = text.find("LLD") != text.npos || text.find("mold") != text.npos;
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

std::span<const std::byte> ElfFile::content(const Section& section) const {
  if (section.header.sh_type == SHT_NOBITS) {
    return {};
  }
  const Elf_Data* data = ::elf_getdata(section.handle, nullptr);
  if (data == nullptr || data->d_buf == nullptr) {
    return {};
  }
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

}  // namespace memtrace
