// Files as a traced program may prepare them: they must cost neither memory, nor time, nor
// memtrace.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "support/own_code.h"
#include "symbolize/cfi/cfi_check.h"
#include "symbolize/debug/dwarf_file.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/names/perf_map.h"
#include "symbolize/names/symbol_table.h"
#include "symbolize/names/symbolizer.h"

namespace memtrace {
namespace {

struct ImageSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = 0;
  std::string content;
  std::uint64_t size_bytes = 0;  // that the header gives, if it is not the content's
  std::uint64_t entry_bytes = 0;
  std::uint32_t link = 0;  // number of the section with the names, from 1
  std::uint64_t askew_bytes = 0;
};

// Headers, the sections' contents, their names, the table of sections.
std::string image_with(std::vector<ImageSection> sections) {
  sections.insert(sections.begin(), {"", SHT_NULL, 0, ""});
  sections.push_back({".shstrtab", SHT_STRTAB, 0, ""});
  std::string& names = sections.back().content;
  std::string image(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> table;
  for (const ImageSection& section : sections) {
    table.emplace_back().sh_name = static_cast<std::uint32_t>(names.size());
    names += section.name + '\0';
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    table[i].sh_type = sections[i].type;
    table[i].sh_flags = sections[i].flags;
    table[i].sh_offset = image.size() + sections[i].askew_bytes;
    table[i].sh_size =
        sections[i].size_bytes > 0 ? sections[i].size_bytes : sections[i].content.size();
    table[i].sh_entsize = sections[i].entry_bytes;
    table[i].sh_link = sections[i].link;
    table[i].sh_addralign = 1;
    image += sections[i].content;
    image.resize((image.size() + 7) / 8 * 8);
  }
  Elf64_Ehdr header{};
  std::memcpy(static_cast<unsigned char*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = image.size();
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<std::uint16_t>(sections.size());
  header.e_shstrndx = static_cast<std::uint16_t>(sections.size() - 1);
  std::memcpy(image.data(), &header, sizeof(header));
  image.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  return image;
}

// A compressed section says first how large it will be.
std::string compressed(std::uint64_t size_bytes) {
  const Elf64_Chdr header{
      .ch_type = ELFCOMPRESS_ZLIB, .ch_reserved = 0, .ch_size = size_bytes, .ch_addralign = 1};
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + "xxxxxxxx";
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(part) != std::string::npos;
  });
}

class HostileFiles : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Symbolizer symbolizer_{{.debug_directory = folder_.path("debug")}};
  long before_kilobytes_ = peak_kilobytes();

  void expect_little_memory() const { EXPECT_LT(peak_kilobytes() - before_kilobytes_, 200 * 1024); }
};

TEST_F(HostileFiles, image_builder_makes_files_that_are_read) {
  const auto file = ElfFile::open(folder_.write("plain", image_with({{".text"}})));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file.value().section(".text"));
}

TEST_F(HostileFiles, number_of_sections_is_limited) {
  std::string image = image_with({{".text"}});
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  header.e_shnum = 0;
  std::memcpy(image.data(), &header, sizeof(header));
  Elf64_Shdr first{};
  first.sh_size = 1U << 26U;
  std::memcpy(&image[header.e_shoff], &first, sizeof(first));
  const std::string path = folder_.write("sections", image);
  ASSERT_EQ(::truncate(path.c_str(), off_t{8} << 30), 0);  // sparse: it has room for all of them
  const auto file = ElfFile::open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("more sections"), std::string::npos) << file.error().message;
  expect_little_memory();
}

// Else each section's name costs as much as all of them.
TEST_F(HostileFiles, names_of_sections_must_end) {
  std::string image = image_with({{".text"}});
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  const std::size_t names = header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr);
  Elf64_Shdr section;
  std::memcpy(&section, &image[names], sizeof(section));
  --section.sh_size;
  std::memcpy(&image[names], &section, sizeof(section));
  const auto file = ElfFile::open(folder_.write("names", image));
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("do not end"), std::string::npos) << file.error().message;
}

TEST_F(HostileFiles, compressed_names_are_refused) {
  std::string image =
      image_with({{".strtab", SHT_STRTAB, SHF_COMPRESSED, compressed(std::uint64_t{4} << 30U)}});
  EXPECT_FALSE(ElfFile::open(folder_.write("names", image)).ok());
  image = image_with({{".eh_frame", SHT_PROGBITS, SHF_COMPRESSED | SHF_ALLOC, compressed(1)}});
  EXPECT_FALSE(ElfFile::open(folder_.write("frames", image)).ok());
}

TEST_F(HostileFiles, debug_information_has_a_size_that_it_may_unpack_to) {
  const std::uint64_t half = UnpackedBytes::most_bytes() / 2 + 1;
  std::string old = "ZLIB";
  for (int shift = 56; shift >= 0; shift -= 8) {
    old += static_cast<char>(half >> shift & 0xFFU);
  }
  const std::string path =
      folder_.write("dwarf",
                    image_with({{".debug_info", SHT_PROGBITS, SHF_COMPRESSED, compressed(half)},
                                {".zdebug_line", SHT_PROGBITS, 0, old + "xxxxxxxx"}}));
  const auto file = ElfFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto dwarf = DwarfFile::open(file.value());
  ASSERT_FALSE(dwarf.ok());
  EXPECT_NE(dwarf.error().message.find("unpacked"), std::string::npos) << dwarf.error().message;
  expect_little_memory();
}

TEST_F(HostileFiles, all_files_together_have_a_limit) {
  auto first = UnpackedBytes::reserve(UnpackedBytes::most_bytes());
  ASSERT_TRUE(first);
  EXPECT_FALSE(UnpackedBytes::reserve(1));
  first->shrink(10);
  EXPECT_TRUE(UnpackedBytes::reserve(1));
  first.reset();
  EXPECT_TRUE(UnpackedBytes::reserve(UnpackedBytes::most_bytes()));
}

[[gnu::noinline]] int function_beside_a_bomb(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

TEST_F(HostileFiles, mini_debug_info_has_a_size_that_it_may_unpack_to) {
  const auto place = mapped_place(address_of(&function_beside_a_bomb));
  ASSERT_EQ(function_beside_a_bomb(3), 3);
  const std::string copy = folder_.path("copy");
  const std::string bomb = folder_.path("bomb");
  const std::string make = "command -v objcopy strip xz > /dev/null && strip --strip-all -o " +
                           copy + " " + place.path + " && head -c 300000000 /dev/zero | xz -0 > " +
                           bomb + " && objcopy --add-section .gnu_debugdata=" + bomb + " " + copy;
  if (std::system((make + " 2> /dev/null").c_str()) != 0) {
    GTEST_SKIP() << "needs objcopy, strip and xz";
  }
  symbolizer_.name(ModuleId{1}, file_module(copy), place.file_offset);
  EXPECT_TRUE(says(symbolizer_.caveats(), "unpacks to more than 64.0 MiB"));
  expect_little_memory();
}

TEST_F(HostileFiles, source_lines_have_a_size_that_they_may_take) {
  const auto place = mapped_place(address_of(&function_beside_a_bomb));
  auto others = UnpackedBytes::reserve(UnpackedBytes::most_bytes());
  auto frames = symbolizer_.name(ModuleId{1}, file_module(place.path), place.file_offset);
  EXPECT_NE(frames.back().function.find("function_beside_a_bomb"), std::string::npos);
  EXPECT_EQ(frames.back().line, 0U);
  EXPECT_TRUE(says(symbolizer_.caveats(), "source lines take too much memory"));
  others.reset();
  frames = symbolizer_.name(ModuleId{2}, file_module(place.path), place.file_offset);
  EXPECT_NE(frames.back().line, 0U);
}

TEST_F(HostileFiles, file_that_is_cut_while_it_is_open_has_no_more_names) {
  const auto place = mapped_place(address_of(&function_beside_a_bomb));
  const std::string copy = folder_.path("copy");
  std::filesystem::copy_file(place.path, copy);
  symbolizer_.name(ModuleId{1}, file_module(copy), place.file_offset);
  ASSERT_EQ(::truncate(copy.c_str(), 8192), 0);
  for (std::uint64_t around = 0; around < 200000; around += 64) {
    symbolizer_.name(ModuleId{1}, file_module(copy), place.file_offset + around);
  }
  EXPECT_TRUE(says(symbolizer_.caveats(), "became shorter")) << symbolizer_.caveats().size();
}

template <typename Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// Common description and one entry, which begins at 24, for 4 KiB of code at 1000.
std::string eh_frame(std::string instructions) {
  std::string common = bytes_of(std::uint32_t{0}) + '\1' + std::string("zR\0", 3) +
                       "\x01\x78\x10\x01" + '\0' + "\x0c\x07\x08\x90\x01";
  common.resize(20);
  std::string entry = bytes_of(std::uint32_t{28}) + bytes_of(std::uint64_t{1000}) +
                      bytes_of(std::uint64_t{4096}) + '\0' + std::move(instructions);
  entry.resize((entry.size() + 3) / 4 * 4);
  return bytes_of(static_cast<std::uint32_t>(common.size())) + common +
         bytes_of(static_cast<std::uint32_t>(entry.size())) + entry + bytes_of(std::uint32_t{0});
}

bool is_modest(const std::string& frames, std::optional<std::int32_t> table_leads_to = {}) {
  std::vector<ImageSection> sections = {{".eh_frame", SHT_PROGBITS, SHF_ALLOC, frames}};
  if (table_leads_to) {
    sections.push_back({".eh_frame_hdr",
                        SHT_PROGBITS,
                        SHF_ALLOC,
                        std::string("\x01\x1b\x03\x3b") + bytes_of(std::uint32_t{0}) +
                            bytes_of(std::uint32_t{1}) + bytes_of(std::int32_t{1000}) +
                            bytes_of(*table_leads_to)});
  }
  const std::string image = image_with(sections);
  const auto bytes = std::as_bytes(std::span(image));
  const auto file = ElfFile::from_image({bytes.begin(), bytes.end()});
  return file.ok() && is_modest_eh_frame(file.value());
}

TEST_F(HostileFiles, call_frame_information_names_a_machine_s_registers) {
  EXPECT_TRUE(is_modest(eh_frame("\x41\x0e\x10\x86\x02")));
  EXPECT_TRUE(is_modest(eh_frame(std::string("\x07\xff\x07", 3))));            // undefined: 1023
  EXPECT_FALSE(is_modest(eh_frame(std::string("\x07\x80\x08", 3))));           // 1024
  EXPECT_FALSE(is_modest(eh_frame(std::string("\x0c\xff\xff\xff\x3f\x08"))));  // CFA register
  EXPECT_TRUE(is_modest(eh_frame(std::string(64, '\x0a'))));                   // remember
  EXPECT_FALSE(is_modest(eh_frame(std::string(65, '\x0a'))));
  EXPECT_TRUE(is_modest(eh_frame("\x10\x06\x02\x76\x78\x41")));  // an expression
  EXPECT_FALSE(is_modest(""));
  EXPECT_FALSE(is_modest(std::string(40, '\x11')));
}

TEST_F(HostileFiles, call_frame_information_that_was_looked_at_is_all_there_is) {
  constexpr std::int32_t kEntry = 24;
  EXPECT_TRUE(is_modest(eh_frame("\x41"), kEntry));
  EXPECT_FALSE(is_modest(eh_frame("\x41"), kEntry + 4));
  EXPECT_FALSE(is_modest(eh_frame("\x41"), 100000));
}

// Files of 8 GiB, nearly all of it a hole, and what is done with each: it must end at once.
class SparseFiles : public HostileFiles {
 protected:
  std::string sparse(const std::string& name, const std::vector<ImageSection>& sections) const {
    const std::string path = folder_.write(name, image_with(sections));
    EXPECT_EQ(::truncate(path.c_str(), off_t{8} << 30), 0);
    return path;
  }

  void TearDown() override {
    EXPECT_LT(std::chrono::steady_clock::now() - start_, std::chrono::seconds(5));
    expect_little_memory();
  }

  static constexpr std::uint64_t kLarge = std::uint64_t{300'000'000} * sizeof(Elf64_Sym);

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_F(SparseFiles, call_frame_information_of_zeros) {
  const auto file =
      ElfFile::open(sparse("frames", {{".eh_frame", SHT_PROGBITS, SHF_ALLOC, "", kLarge}}));
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(is_modest_eh_frame(file.value()));
  const std::uint64_t modest = std::uint64_t{256} << 20U;
  const auto smaller =
      ElfFile::open(sparse("smaller", {{".eh_frame", SHT_PROGBITS, SHF_ALLOC, "", modest}}));
  ASSERT_TRUE(smaller.ok());
  EXPECT_FALSE(is_modest_eh_frame(smaller.value()));
}

TEST_F(SparseFiles, symbols_of_zeros_and_of_one_byte) {
  for (const std::uint64_t entry_bytes : {std::uint64_t{1}, std::uint64_t{sizeof(Elf64_Sym)}}) {
    const std::vector<ImageSection> sections = {
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, "", kLarge, entry_bytes, 2},
        {".dynstr", SHT_STRTAB, SHF_ALLOC, std::string(8, '\0')}};
    const std::string path = sparse("symbols" + std::to_string(entry_bytes), sections);
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(SymbolTable().add_section(file.value(), SHT_DYNSYM, 0), 0U);
    EXPECT_EQ(ElfSymbols(file.value(), SHT_DYNSYM).count(),
              entry_bytes == 1 ? 0U : ElfSymbols::kMost);
  }
}

TEST_F(SparseFiles, tables_that_lie_askew_are_not_copied) {
  for (const std::uint64_t askew_bytes : {std::uint64_t{0}, std::uint64_t{4}}) {
    const ImageSection symbols{
        ".symtab", SHT_SYMTAB, 0, "", kLarge, sizeof(Elf64_Sym), 0, askew_bytes};
    const auto file = ElfFile::open(sparse("askew" + std::to_string(askew_bytes), {symbols}));
    EXPECT_EQ(file.ok(), askew_bytes == 0);
  }
}

TEST_F(HostileFiles, names_have_a_length) {
  const std::string plain = "plain";
  const std::string names =
      std::string(1, '\0') + plain + '\0' + std::string(1U << 20U, 'x') + '\0';
  Elf64_Sym symbols[3]{};
  symbols[1].st_name = 1;
  symbols[2].st_name = static_cast<std::uint32_t>(1 + plain.size() + 1);
  const std::string table(reinterpret_cast<const char*>(symbols), sizeof(symbols));
  const auto file = ElfFile::open(
      folder_.write("names",
                    image_with({{".symtab", SHT_SYMTAB, 0, table, 0, sizeof(Elf64_Sym), 2},
                                {".strtab", SHT_STRTAB, 0, names}})));
  ASSERT_TRUE(file.ok()) << file.error().message;
  ElfSymbols read(file.value(), SHT_SYMTAB);
  ASSERT_EQ(read.count(), 3U);
  EXPECT_EQ(read.name(*read.at(1)), plain);
  EXPECT_STREQ(read.name(*read.at(2)), "");
  EXPECT_FALSE(read.at(3));
}

// /tmp/perf-PID.map of this process, gone at the end.
class HostileMap : public HostileFiles {
 protected:
  std::string path_ = "/tmp/perf-" + std::to_string(::getpid()) + ".map";

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  void TearDown() override { std::filesystem::remove(path_); }

  static PerfMapFile open() { return PerfMapFile(static_cast<std::uint32_t>(::getpid())); }
};

TEST_F(HostileMap, one_without_line_ends_is_read_no_further) {
  write("1000 10 first\n");
  ASSERT_EQ(::truncate(path_.c_str(), off_t{6} << 30), 0);
  const auto start = std::chrono::steady_clock::now();
  PerfMapFile map = open();
  EXPECT_FALSE(map.find(0x5000));
  EXPECT_TRUE(map.find(0x1000));
  EXPECT_NE(map.problem().find("is not a list of functions"), std::string::npos) << map.problem();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  expect_little_memory();
}

TEST_F(HostileMap, of_a_large_one_the_first_part_is_read) {
  std::string lines;
  for (int i = 0; i < 3000; ++i) {
    lines += "1000 10 " + std::string(60000, 'x') + '\n';
  }
  write(lines);
  PerfMapFile map = open();
  EXPECT_FALSE(map.find(0x5000));
  EXPECT_TRUE(map.find(0x1000));
  EXPECT_NE(map.problem().find("only the first 128.0 MiB"), std::string::npos) << map.problem();
}

TEST_F(HostileMap, one_of_another_user_names_nothing) {
  write("1000 10 forged\n");
  if (::chown(path_.c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  PerfMapFile map = open();
  EXPECT_FALSE(map.find(0x1000));
  EXPECT_NE(map.problem().find("belongs to user 65534"), std::string::npos) << map.problem();
}

TEST_F(HostileMap, user_of_a_process_that_has_ended_is_not_known) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  path_ = "/tmp/perf-" + std::to_string(child) + ".map";
  write("1000 10 forged\n");
  if (::chown(path_.c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  PerfMapFile map(static_cast<std::uint32_t>(child));
  EXPECT_FALSE(map.find(0x1000));
  EXPECT_NE(map.problem().find("its user is not known any more"), std::string::npos)
      << map.problem();
}

TEST_F(HostileMap, pipe_and_device_are_not_opened) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(open().find(0x1000));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_FALSE(open().find(0x1000));
}

TEST_F(HostileMap, one_that_grows_is_read_on_and_one_that_is_new_from_its_start) {
  write("1000 10 first\n2000 10 sec");
  PerfMapFile map = open();
  EXPECT_EQ(map.find(0x2000)->function, "sec");  // as far as it is written
  std::ofstream(path_, std::ios::app) << "ond\n3000 10 third\n";
  EXPECT_TRUE(map.find(0x3000));
  EXPECT_EQ(map.find(0x2000)->function, "second");
  EXPECT_TRUE(map.find(0x1000));
  std::filesystem::remove(path_);
  write("7000 10 other\n");
  EXPECT_TRUE(map.find(0x7000));
  EXPECT_FALSE(map.find(0x1000));
}

}  // namespace
}  // namespace memtrace
