// The compilation units of a file by the addresses they cover, and the functions of each unit.
// Read from the unit entries themselves: clang and rustc write no .debug_aranges.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolize/debug/unpacked_bytes.h"

namespace memtrace {

struct DwarfFunction {
  std::uint64_t start = 0;  // SVMA
  std::uint64_t limit = 0;
  Dwarf_Die entry{};
};

class DwarfUnit {
 public:
  explicit DwarfUnit(const Dwarf_Die& entry) : entry_(entry) {}

  // Has the line table.
  Dwarf_Die& entry() { return entry_; }

  // Has the functions: the entry in the .dwo file of a unit that is split, else the same.
  Dwarf_Die& body();

  // Null without one, or when the unit's table of lines takes too much memory.
  Dwarf_Line* line_at(std::uint64_t svma);

  bool left_out_lines() const { return reads_lines_ == false; }

  // The unit's source files; none if it has none.
  Dwarf_Files* files(std::size_t& count);

  // Null when no function of this unit covers the address.
  const DwarfFunction* function_at(std::uint64_t svma);

 private:
  enum class Index : std::uint8_t { None, TopLevel, All };

  bool may_open_split();
  bool may_read_lines();
  void index_functions(Index depth);

  Dwarf_Die entry_{};
  Dwarf_Die body_{};
  bool looked_for_body_ = false;
  std::optional<bool> reads_lines_;
  UnpackedBytes line_memory_;
  Index index_ = Index::None;
  std::vector<DwarfFunction> functions_;
};

class DwarfUnits {
 public:
  explicit DwarfUnits(Dwarf* dwarf);

  DwarfUnit* at(std::uint64_t svma);

 private:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    std::size_t unit = 0;
  };

  std::vector<DwarfUnit> units_;
  std::vector<Range> ranges_;
};

// The ranges of a unit's functions, and of the calls that were inlined into one function. A list of
// ranges may be shared: a small file can claim any number.
inline constexpr std::size_t kMaxRanges = std::size_t{1} << 20U;

// Calls visit(start, limit) for each address range of an entry, while it returns true. Ranges that
// begin at 0 are code that the linker threw away.
template <typename Visit>
void for_each_range(Dwarf_Die& entry, Visit visit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr limit = 0;
  ptrdiff_t position = 0;
  while ((position = ::dwarf_ranges(&entry, position, &base, &start, &limit)) > 0) {
    if (start != 0 && start < limit && !visit(start, limit)) {
      return;
    }
  }
}

}  // namespace memtrace
