#include "symbolize/elf/elf_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/own_code.h"
#include "symbolize/cfi/frame_rule.h"
#include "symbolize/elf/vdso.h"
#include "symbolize/names/file_symbols.h"

namespace memtrace {
namespace {

struct ImageSegment {
  std::uint64_t file_offset = 0;
  std::uint64_t svma = 0;
  std::uint64_t file_bytes = 0;
  std::uint32_t flags = 0;
};

// The headers of a file, which is all that addresses are computed from.
std::vector<std::byte> image_with(const std::vector<ImageSegment>& segments) {
  std::vector<std::byte> image(sizeof(Elf64_Ehdr) + segments.size() * sizeof(Elf64_Phdr));
  Elf64_Ehdr header{};
  std::memcpy(static_cast<unsigned char*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<std::uint16_t>(segments.size());
  std::memcpy(image.data(), &header, sizeof(header));
  std::size_t at = sizeof(header);
  for (const ImageSegment& segment : segments) {
    Elf64_Phdr program{};
    program.p_type = PT_LOAD;
    program.p_flags = segment.flags;
    program.p_offset = segment.file_offset;
    program.p_vaddr = segment.svma;
    program.p_filesz = segment.file_bytes;
    program.p_memsz = 0x1000;
    std::memcpy(&image[at], &program, sizeof(program));
    at += sizeof(program);
  }
  return image;
}

TEST(ElfFile, file_offset_becomes_an_address_by_its_segment) {
  const auto file = ElfFile::from_image(
      image_with({{0, 0x400000, 0x850, PF_R}, {0x850, 0x401850, 0x700, PF_R | PF_X}}));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().svma_of(0x100), 0x400100U);
  EXPECT_EQ(file.value().svma_of(0x850), 0x401850U);
  EXPECT_EQ(file.value().svma_of(0xf4f), 0x401f4fU);
  EXPECT_FALSE(file.value().svma_of(0xf50));
  EXPECT_EQ(file.value().base_svma(), 0x400000U);
}

TEST(ElfFile, executable_segment_wins_where_two_load_the_same_bytes) {
  const auto file =
      ElfFile::from_image(image_with({{0, 0, 0x1000, PF_R}, {0x800, 0x11800, 0x800, PF_R | PF_X}}));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().svma_of(0x900), 0x11900U);
}

TEST(ElfFile, segment_emptied_by_objcopy_is_taken_as_gnu_ld_lays_it_out) {
  const auto file =
      ElfFile::from_image(image_with({{0, 0x400000, 0, PF_R}, {0, 0x401000, 0, PF_R | PF_X}}));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().svma_of(0x1010), 0x401010U);
  EXPECT_FALSE(file.value().svma_of(0x10));
  EXPECT_FALSE(file.value().svma_of(0x2010));
}

TEST(ElfFile, errors_name_the_path) {
  const TemporaryFolder folder;
  const auto missing = ElfFile::open("/nonexistent");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "open(/nonexistent)");
  EXPECT_EQ(missing.error().errno_value, ENOENT);
  const std::string text = folder.write("text", "not ELF");
  const auto other = ElfFile::open(text);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, text + ": not an ELF file");
}

TEST(ElfFile, devices_are_not_opened) {
  const auto device = ElfFile::open("/dev/zero");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().message, "/dev/zero: not a file");
}

std::vector<std::byte> vdso_bytes() {
  const auto vdso = open_vdso();
  if (!vdso.ok()) {
    return {};
  }
  std::size_t size_bytes = 0;
  const char* image = ::elf_rawfile(vdso.value().handle(), &size_bytes);
  const auto bytes = std::as_bytes(std::span(image, size_bytes));
  return {bytes.begin(), bytes.end()};
}

void use_everything(std::vector<std::byte> image) {
  auto file = ElfFile::from_image(std::move(image));
  if (!file.ok()) {
    return;
  }
  file.value().build_id();
  auto symbols = FileSymbols::load(file.take(), "/nonexistent", {"/nonexistent"}, true);
  for (std::uint64_t offset = 0; offset < 0x2000; offset += 0x100) {
    symbols.name(offset);
  }
}

// The vdso is the smallest real ELF file at hand.
TEST(BrokenElf, any_cut_of_a_file_is_survived) {
  const auto whole = vdso_bytes();
  for (std::size_t kept = 0; kept < whole.size(); kept += 61) {
    use_everything({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)});
  }
}

TEST(BrokenElf, any_wrong_byte_in_the_headers_is_survived) {
  const auto whole = vdso_bytes();
  const std::size_t header_bytes = std::min<std::size_t>(whole.size(), 512);
  for (std::size_t at = 0; at < header_bytes; ++at) {
    auto broken = whole;
    broken[at] ^= std::byte{0xff};
    use_everything(std::move(broken));
  }
}

TEST(BrokenElf, frame_rules_survive_wrong_bytes) {
  const TemporaryFolder folder;
  const auto whole = vdso_bytes();
  for (std::size_t at = 16; at < whole.size(); at += 397) {
    auto broken = whole;
    broken[at] ^= std::byte{0xff};
    const std::string_view text(reinterpret_cast<const char*>(broken.data()), broken.size());
    if (const auto rules = FrameRules::open(folder.write("broken", text))) {
      rules->at(0x1000);
    }
  }
}

}  // namespace
}  // namespace memtrace
