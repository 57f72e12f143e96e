// One open ELF file: owns its bytes and libelf's handle, and knows how its addresses relate.
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
#include "os/foreign_file.h"

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

    // Empty for NOBITS sections. Valid as long as the file is open.
    std::span<const std::byte> content() const;
  };

  // Only address space: what is not looked at takes no memory.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30U;

  // Errors: "open(PATH)" with errno; "PATH: not an ELF file"; one that no linker makes.
  static Result<ElfFile> open(const std::string& path);

  // The image of a file that has no path, such as the vdso.
  static Result<ElfFile> from_image(std::vector<std::byte> image);

  Elf* handle() const { return elf_.get(); }

  // It has become shorter since it was opened: the rest reads as zeros.
  bool was_cut() const { return bytes_.was_cut(); }

  // All of the file; of an image none.
  std::span<const std::byte> bytes() const { return bytes_.bytes(); }

  // As opened; "" for an image.
  const std::string& path() const { return path_; }

  std::uint16_t machine() const { return machine_; }

  // Lower-case hex, "" without one.
  std::string build_id() const;

  // Nothing for an offset that no segment loads.
  std::optional<std::uint64_t> svma_of(std::uint64_t file_offset) const;

  // Those that are loaded, as the file has them.
  std::span<const Segment> segments() const { return segments_; }

  // The address of the first loaded segment: where the file's own addresses begin. Prelinking moves
  // it.
  std::uint64_t base_svma() const { return segments_.empty() ? 0 : segments_.front().svma; }

  std::optional<Section> section(std::string_view name) const;
  std::optional<Section> section_of_type(std::uint32_t type) const;

 private:
  struct Close {
    void operator()(Elf* elf) const { ::elf_end(elf); }
  };

  ElfFile() = default;

  Result<> open_bytes(std::span<const std::byte> bytes);
  Result<> read_headers();
  Result<> check_sections() const;
  bool has_last_name_an_end() const;
  bool is_copied(const GElf_Shdr& header) const;

  std::string shown_path() const { return path_.empty() ? "memory image" : path_; }

  std::optional<std::uint64_t> svma_by_layout(std::uint64_t file_offset) const;

  std::string path_;
  ForeignBytes bytes_;            // before elf_, which reads from it until its end
  std::vector<std::byte> image_;  // before elf_, too
  std::unique_ptr<Elf, Close> elf_;
  std::vector<Segment> segments_;
  std::uint16_t machine_ = 0;
};

}  // namespace memtrace
