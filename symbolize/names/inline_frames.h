// Functions and source lines of an address from DWARF, with the functions that the compiler
// inlined there:
//
//   svma -> unit -> function -> the inlined calls whose ranges hold it, each inside the one before
//
// What a unit or function holds is read when the first address in it is asked for, and kept.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolize/debug/dwarf_file.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/names/dwarf_units.h"

namespace memtrace {

struct SourceFrame {
  std::string function;     // demangled; "" when only the line is known
  std::uint64_t start = 0;  // SVMA of the range of the function that holds the address
  std::string file;
  std::uint32_t line = 0;
  bool inlined = false;
};

class InlineFrames {
 public:
  // Null without DWARF, or with one that libdw cannot read. The file must stay open. Error: it
  // takes too much memory.
  static Result<std::unique_ptr<InlineFrames>> open(const ElfFile& file);

  // Innermost first; empty when DWARF says nothing of this address.
  std::vector<SourceFrame> at(std::uint64_t svma);

  // Some had no line because the table of lines takes too much memory.
  bool left_out_lines() const { return left_out_lines_; }

 private:
  struct InlinedCall {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    Dwarf_Die entry{};
  };

  explicit InlineFrames(DwarfFile dwarf);

  const std::vector<InlinedCall>& calls_in(const DwarfFunction& function);
  static void collect_calls(Dwarf_Die& parent, int nesting, std::vector<InlinedCall>& calls);

  DwarfFile dwarf_;
  DwarfUnits units_;
  bool left_out_lines_ = false;
  // By the place of the function's entry in the file; outer calls come before those inside them.
  std::unordered_map<const void*, std::vector<InlinedCall>> calls_;
};

}  // namespace memtrace
