// One open ELF file: owns its descriptor and libelf's handle, and knows how its addresses relate.
//
//   file offset --(program headers)--> SVMA, the address the linker gave --(load bias)--> AVMA
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace memtrace {

class ElfFile {
 public:
  struct Segment {
    std::uint64_t file_offset = 0;
    std::uint64_t file_bytes = 0;  // 0 in a debug file made by objcopy --only-keep-debug
    std::uint64_t svma = 0;
    std::uint64_t memory_bytes = 0;
    bool executable = false;
  };

  struct Section {
    Elf_Scn* handle = nullptr;
    GElf_Shdr header{};
  };

  // Error: "open(PATH)" with errno, or "PATH: not an ELF file".
  static Result<ElfFile> open(const std::string& path);

  // The image of a file that has no path, such as the vdso.
  static Result<ElfFile> from_image(std::vector<std::byte> image);

  Elf* handle() const { return elf_.get(); }

  // As opened; "" for an image.
  const std::string& path() const { return path_; }

  std::uint16_t machine() const { return machine_; }

  // Lower-case hex, "" without one.
  std::string build_id() const;

  // Nothing for an offset that no segment loads.
  std::optional<std::uint64_t> svma_of(std::uint64_t file_offset) const;

  // Of the first loaded segment: where the file's own addresses begin. Prelinking moves it.
  std::uint64_t base_svma() const { return segments_.empty() ? 0 : segments_.front().svma; }

  std::optional<Section> section(std::string_view name) const;
  std::optional<Section> section_of_type(std::uint32_t type) const;

  // Empty for NOBITS sections. Valid as long as the file is open.
  std::span<const std::byte> content(const Section& section) const;

 private:
  struct Close {
    void operator()(Elf* elf) const { ::elf_end(elf); }
  };

  ElfFile() = default;

  Result<> read_headers();
  std::optional<std::uint64_t> svma_by_layout(std::uint64_t file_offset) const;

  std::string path_;
  UniqueFd fd_;                   // before elf_, which reads from it until its end
  std::vector<std::byte> image_;  // likewise
  std::unique_ptr<Elf, Close> elf_;
  std::vector<Segment> segments_;
  std::uint16_t machine_ = 0;
};

}  // namespace memtrace
