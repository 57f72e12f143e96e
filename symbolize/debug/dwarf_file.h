// The DWARF of one file, opened so that neither its size unpacked nor other files that it names can
// do harm.
#pragma once

#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <string>

#include "symbolize/debug/unpacked_bytes.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {

class DwarfFile {
 public:
  // `file` must stay open. Error: what libdw cannot read, or would take too much memory unpacked.
  static Result<DwarfFile> open(const ElfFile& file);

  Dwarf* handle() const { return dwarf_.get(); }

 private:
  struct Close {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };

  DwarfFile() = default;

  void set_common_file(const ElfFile& file);

  UnpackedBytes memory_;
  std::optional<ElfFile> common_file_;  // what dwz(1) moved out of several debug files
  std::unique_ptr<DwarfFile> common_;
  std::unique_ptr<Dwarf, Close> dwarf_;  // after the common one: reads from it
};

}  // namespace memtrace
