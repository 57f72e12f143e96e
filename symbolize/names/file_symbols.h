// All names of one file, from wherever they are: its own tables, its debug file's, DWARF.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/names/frame_name.h"
#include "symbolize/names/inline_frames.h"
#include "symbolize/names/mini_debug_info.h"
#include "symbolize/names/symbol_table.h"

namespace memtrace {

class FileSymbols {
 public:
  // `mapped_path` is what the file's process knows it as: debug links are relative to it.
  // `with_dwarf` reads inlined functions and lines.
  static FileSymbols load(ElfFile file,
                          const std::string& mapped_path,
                          const DebugPlaces& places,
                          bool with_dwarf);

  // Innermost first; empty when the offset has no name. Leaves the module's fields empty.
  std::vector<FrameName> name(std::uint64_t file_offset);

  // What of the file was not read, as the end of a sentence about it; "" if all was.
  std::string problem() const;

 private:
  explicit FileSymbols(ElfFile file) : file_(std::move(file)) {}

  void load_symbols();
  void load_dwarf();

  ElfFile file_;
  std::optional<ElfFile> debug_file_;
  std::uint64_t debug_bias_ = 0;  // file's SVMA - debug file's: not 0 if the file was prelinked
  std::uint64_t dwarf_bias_ = 0;
  MiniDebugInfo mini_debug_info_;
  SymbolTable symbols_;
  std::string dwarf_problem_;
  std::unique_ptr<InlineFrames> inline_frames_;  // after the files: reads from them
};

}  // namespace memtrace
