#include "symbolize/elf/debug_files.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <string_view>

#include "base/byte_reader.h"
#include "symbolize/elf/build_id.h"

namespace memtrace {

namespace {

struct DebugLink {
  std::string name;
  std::uint32_t checksum = 0;
};

// A name, NUL, padding to a multiple of four, the checksum.
std::optional<DebugLink> read_debug_link(const ElfFile& file) {
  const auto section = file.section(".gnu_debuglink");
  const auto bytes = section ? section->content() : std::span<const std::byte>();
  if (bytes.size() < 8) {
    return std::nullopt;
  }
  ByteReader reader(bytes);
  DebugLink link;
  link.name = reader.text(bytes.size() - sizeof(link.checksum));
  link.checksum = reader.read<std::uint32_t>();
  const bool is_plain_name = !link.name.empty() && link.name.find('/') == std::string::npos;
  return is_plain_name ? std::optional(link) : std::nullopt;
}

constexpr std::array<std::uint32_t, 256> crc32_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
    }
    table[i] = value;
  }
  return table;
}

// Takes some seconds. Files without a build id are older than such sizes.
constexpr std::size_t kMaxSummedBytes = std::size_t{1} << 30U;

bool has_names(const ElfFile& file) {
  const auto symbols = file.section_of_type(SHT_SYMTAB);
  const auto dwarf = file.section(".debug_info");
  return symbols || (dwarf && dwarf->header.sh_type != SHT_NOBITS);
}

// The build ids decide if both have one; the checksum costs reading the whole file.
bool belongs_to(const ElfFile& candidate, const ElfFile& file, const DebugLink& link) {
  const std::string expected = file.build_id();
  const std::string found = candidate.build_id();
  if (!expected.empty() && !found.empty()) {
    return expected == found;
  }
  return candidate.bytes().size() <= kMaxSummedBytes && crc32(candidate.bytes()) == link.checksum;
}

std::vector<std::string> debug_link_paths(const DebugLink& link,
                                          const std::string& mapped_path,
                                          const DebugPlaces& places) {
  const std::string folder = mapped_path.substr(0, mapped_path.rfind('/'));
  std::vector<std::string> paths;
  for (const std::string& root : places.roots) {
    paths.push_back(fmt::format("{}{}/{}", root, folder, link.name));
    paths.push_back(fmt::format("{}{}/.debug/{}", root, folder, link.name));
    paths.push_back(fmt::format("{}{}{}/{}", root, places.debug_directory, folder, link.name));
  }
  return paths;
}

}  // namespace

std::optional<ElfFile> find_debug_file_by_build_id(const std::string& build_id,
                                                   const DebugPlaces& places) {
  const bool is_hex = build_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (build_id.size() < 4 || !is_hex) {  // a recording is input: no path is made of anything else
    return std::nullopt;
  }
  for (const std::string& root : places.roots) {
    auto file = ElfFile::open(root + places.debug_directory + "/.build-id/" +
                              build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug");
    if (file.ok() && same_build_id(file.value().build_id(), build_id)) {
      return file.take();
    }
  }
  return std::nullopt;
}

std::optional<ElfFile> find_debug_file(const ElfFile& file,
                                       const std::string& mapped_path,
                                       const DebugPlaces& places) {
  if (auto found = find_debug_file_by_build_id(file.build_id(), places)) {
    return found;
  }
  const auto link = read_debug_link(file);
  if (!link) {
    return std::nullopt;
  }
  for (const std::string& path : debug_link_paths(*link, mapped_path, places)) {
    auto candidate = path == file.path() ? Result<ElfFile>(Error{}) : ElfFile::open(path);
    if (candidate.ok() && has_names(candidate.value()) &&
        belongs_to(candidate.value(), file, *link)) {
      return candidate.take();
    }
  }
  return std::nullopt;
}

std::uint32_t crc32(std::span<const std::byte> bytes) {
  constexpr auto kTable = crc32_table();
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const std::byte byte : bytes) {
    sum = kTable[(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU] ^ (sum >> 8);
  }
  return ~sum;
}

}  // namespace memtrace
