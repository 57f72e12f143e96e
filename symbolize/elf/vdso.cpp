#include "symbolize/elf/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>

namespace memtrace {

namespace {

// The auxiliary vector has the vdso's address, but not its size: it ends with the section headers
// or the last segment.
std::size_t image_bytes(const std::byte* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  std::uint64_t limit = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr program;
    std::memcpy(&program, image + header.e_phoff + i * header.e_phentsize, sizeof(program));
    if (program.p_type == PT_LOAD) {
      limit = std::max(limit, program.p_offset + program.p_filesz);
    }
  }
  return limit;
}

}  // namespace

Result<ElfFile> open_vdso() {
  const auto address = ::getauxval(AT_SYSINFO_EHDR);
  if (address == 0) {
    return Error{"[vdso]: this kernel gives us none", 0, ""};
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel says as a number where it lies.
  const auto* image = reinterpret_cast<const std::byte*>(address);
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0 || image[EI_CLASS] != std::byte{ELFCLASS64}) {
    return Error{"[vdso]: not a 64-bit ELF image", 0, ""};
  }
  return ElfFile::from_image(std::vector<std::byte>(image, image + image_bytes(image)));
}

}  // namespace memtrace
