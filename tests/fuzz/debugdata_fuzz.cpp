// The packed symbols of a stripped file (.gnu_debugdata). xz has checksums, so what is packed is
// the input, and it is packed here; with an odd first byte it is the packed bytes themselves.
#include <elf.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/byte_writer.h"
#include "fuzz/fuzz_target.h"
#include "symbolize/names/mini_debug_info.h"

namespace memtrace::fuzz {
namespace {

std::vector<std::byte> packed(Input plain) {
  constexpr std::size_t kRoomBytes = 1024;
  std::vector<std::byte> result(plain.size() * 2 + kRoomBytes);
  std::size_t size_bytes = 0;
  const lzma_ret status =
      ::lzma_easy_buffer_encode(0,
                                LZMA_CHECK_CRC32,
                                nullptr,
                                reinterpret_cast<const std::uint8_t*>(plain.data()),
                                plain.size(),
                                reinterpret_cast<std::uint8_t*>(result.data()),
                                &size_bytes,
                                result.size());
  result.resize(status == LZMA_OK ? size_bytes : 0);
  return result;
}

Elf64_Shdr section(std::uint32_t name,
                   std::uint32_t type,
                   std::uint64_t offset,
                   std::uint64_t size_bytes) {
  Elf64_Shdr header{};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size_bytes;
  header.sh_addralign = 1;
  return header;
}

// A file with this one section and the names of sections.
std::vector<std::byte> file_with(Input debugdata) {
  constexpr std::string_view kNames("\0.gnu_debugdata\0.shstrtab\0", 26);
  constexpr std::uint64_t kAlignment = 8;
  const std::uint64_t names_at = sizeof(Elf64_Ehdr) + debugdata.size();
  const std::uint64_t table_at =
      (names_at + kNames.size() + kAlignment - 1) / kAlignment * kAlignment;
  Elf64_Ehdr header{};
  const std::array<unsigned char, 7> identity = {
      ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  std::ranges::copy(identity, std::begin(header.e_ident));
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = table_at;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  ByteWriter out;
  out.put(header);
  out.put_bytes(debugdata);
  out.put_bytes(std::as_bytes(std::span(kNames)));
  out.pad(kAlignment);
  out.put(Elf64_Shdr{});
  out.put(section(1, SHT_PROGBITS, sizeof(header), debugdata.size()));
  out.put(section(16, SHT_STRTAB, names_at, kNames.size()));
  return out.bytes();
}

}  // namespace

void fuzz_debugdata(Input input) {
  if (input.empty()) {
    return;
  }
  const bool is_packed = (std::to_integer<unsigned>(input.front()) & 1U) != 0;
  const Input content = input.subspan(1);
  const auto file =
      ElfFile::from_image(is_packed ? file_with(content) : file_with(packed(content)));
  if (!file.ok()) {
    return;
  }
  SymbolTable table;
  const MiniDebugInfo info = MiniDebugInfo::load(file.value(), table);
  table.sort();
  constexpr std::uint64_t kStep = 16;
  constexpr std::uint64_t kMaxPlaces = 256;
  for (std::uint64_t place = 0; place < kMaxPlaces; ++place) {
    const Symbol* symbol = table.find(file.value().base_svma() + place * kStep);
    if (symbol != nullptr) {
      static_cast<void>(symbol->readable_name());
    }
  }
}

}  // namespace memtrace::fuzz
