#include "programs/dynamic_section.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>

#include "base/byte_writer.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

Elf64_Shdr section(std::uint32_t type, std::uint64_t offset, std::uint64_t size_bytes) {
  Elf64_Shdr header{};
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size_bytes;
  header.sh_addralign = 1;
  return header;
}

// A library with these names and these places in them as DT_NEEDED.
std::vector<std::byte> library(const std::string& names, const std::vector<std::uint64_t>& needed) {
  const std::uint64_t dynamic_at = sizeof(Elf64_Ehdr);
  const std::uint64_t dynamic_bytes = needed.size() * sizeof(Elf64_Dyn);
  const std::uint64_t names_at = dynamic_at + dynamic_bytes;
  Elf64_Ehdr header{};
  std::memcpy(static_cast<unsigned char*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = (names_at + names.size() + 7) / 8 * 8;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  Elf64_Shdr dynamic = section(SHT_DYNAMIC, dynamic_at, dynamic_bytes);
  dynamic.sh_entsize = sizeof(Elf64_Dyn);
  dynamic.sh_link = 2;
  ByteWriter out;
  out.put(header);
  for (const std::uint64_t place : needed) {
    out.put(Elf64_Dyn{.d_tag = DT_NEEDED, .d_un = {.d_val = place}});
  }
  out.put_text(names);
  out.pad(8);
  out.put(Elf64_Shdr{});
  out.put(dynamic);
  out.put(section(SHT_STRTAB, names_at, names.size()));
  return out.bytes();
}

std::optional<DynamicSection> read(const std::vector<std::byte>& file) {
  const test::TempDir folder;
  std::ofstream(folder.file("library"), std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  return read_dynamic_section(folder.file("library"));
}

TEST(DynamicSection, names_what_the_loader_is_to_load) {
  const auto found = read(library(std::string("\0libm.so.6\0libc.so.6\0", 22), {1, 11}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->needed, (std::vector<std::string>{"libm.so.6", "libc.so.6"}));
}

TEST(DynamicSection, name_without_an_end_or_outside_is_empty) {
  const auto found = read(library("xlibc.so.6", {1, 10, 1000}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->needed, std::vector<std::string>(3));
}

// 4096 entries that name the same megabyte.
TEST(DynamicSection, entries_have_a_length_together) {
  std::string names(std::size_t{1} << 19U, 'x');
  names.back() = '\0';
  const auto found = read(library(names, std::vector<std::uint64_t>(4096)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->needed.size(), 2U);
}

}  // namespace
}  // namespace memtrace
