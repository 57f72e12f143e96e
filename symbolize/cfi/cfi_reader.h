// libdw's view of one file's call frame information: finds the row for an address and takes its
// rules apart. Only symbolize/cfi/frame_rule.cpp uses it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "symbolize/cfi/frame_rule.h"
#include "symbolize/debug/dwarf_file.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {

class CfiReader {
 public:
  // `mapped_path` and `places`: where a separate debug file may be.
  CfiReader(ElfFile file, std::string mapped_path, DebugPlaces places);

  // False: this file is of another architecture, or has no CFI at all.
  bool has_rules() const;

  std::optional<FrameRule> rule(std::uint64_t file_offset);
  std::optional<FullFrameRule> full_rule(std::uint64_t file_offset);

 private:
  struct FreeFrame {
    // libdw gets it from malloc(3) (dwarf_cfi_addrframe()).
    void operator()(Dwarf_Frame* frame) const {
      std::free(frame);  // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
    }
  };

  struct EndCfi {
    void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
  };

  using Frame = std::unique_ptr<Dwarf_Frame, FreeFrame>;

  Frame frame_at(std::uint64_t file_offset);
  void open_debug_frame();

  ElfFile file_;
  std::string mapped_path_;
  DebugPlaces places_;
  std::optional<ElfFile> debug_file_;
  std::optional<DwarfFile> dwarf_;
  std::unique_ptr<Dwarf_CFI, EndCfi> eh_frame_;
  Dwarf_CFI* debug_frame_ = nullptr;        // dwarf_ owns it
  std::uint64_t debug_svma_minus_own_ = 0;  // prelink(8) moves a file but not its debug file
  bool tried_debug_frame_ = false;
};

}  // namespace memtrace
