#include "symbolize/names/dwarf_units.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/byte_reader.h"
#include "os/trust.h"
#include "symbolize/elf/range_search.h"

namespace memtrace {

namespace {

// Large programs have some hundred thousand.
constexpr std::size_t kMaxUnits = std::size_t{1} << 20U;
constexpr std::size_t kMaxUnitRanges = std::size_t{8} << 20U;
constexpr int kMaxScopes = 64;  // of namespaces and types; a broken file may claim any depth

// Functions lie in units and namespaces. Those inside types and other functions (Ada, Fortran, GNU
// C) are looked for only on demand: most entries of a unit are in there.
void collect_functions(Dwarf_Die& parent,
                       bool everywhere,
                       int nesting,
                       std::vector<DwarfFunction>& functions) {
  Dwarf_Die child;
  if (nesting > kMaxScopes || ::dwarf_child(&parent, &child) != 0) {
    return;
  }
  const auto add_range = [&](std::uint64_t start, std::uint64_t limit) {
    functions.push_back({start, limit, child});
    return functions.size() < kMaxRanges;
  };
  do {
    if (functions.size() >= kMaxRanges) {
      return;
    }
    const int tag = ::dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      for_each_range(child, add_range);
    }
    if (everywhere || tag == DW_TAG_namespace || tag == DW_TAG_module) {
      collect_functions(child, everywhere, nesting + 1, functions);
    }
  } while (::dwarf_siblingof(&child, &child) == 0);
}

std::string string_attribute(Dwarf_Die& entry, unsigned name, unsigned other_name) {
  Dwarf_Attribute attribute;
  for (const unsigned one : {name, other_name}) {
    const char* text = ::dwarf_formstring(::dwarf_attr(&entry, one, &attribute));
    if (text != nullptr) {
      return text;
    }
  }
  return "";
}

Elf_Data* line_section(Elf* elf) {
  std::size_t names = 0;
  Elf_Scn* section = nullptr;
  ::elf_getshdrstrndx(elf, &names);
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    const char* name = ::gelf_getshdr(section, &header) == nullptr
                           ? nullptr
                           : ::elf_strptr(elf, names, header.sh_name);
    if (name != nullptr &&
        (std::strcmp(name, ".debug_line") == 0 || std::strcmp(name, ".zdebug_line") == 0)) {
      return ::elf_getdata(section, nullptr);
    }
  }
  return nullptr;
}

// The length that the line program of a unit begins with, in 32 or 64 bits (DWARF, 7.4).
std::uint64_t line_program_bytes(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  const Elf_Data* data = line_section(::dwarf_getelf(::dwarf_cu_getdwarf(entry.cu)));
  if (data == nullptr || ::dwarf_attr(&entry, DW_AT_stmt_list, &attribute) == nullptr ||
      ::dwarf_formudata(&attribute, &offset) != 0 || offset > data->d_size) {
    return 0;
  }
  constexpr std::uint32_t kLong = 0xFFFFFFFF;
  ByteReader reader(std::as_bytes(std::span(static_cast<const char*>(data->d_buf), data->d_size))
                        .subspan(offset));
  const auto short_length = reader.read<std::uint32_t>();
  const std::uint64_t length = short_length == kLong ? reader.read<std::uint64_t>() : short_length;
  return std::min<std::uint64_t>(length, data->d_size - offset);
}

template <typename Range>
void sort_by_start(std::vector<Range>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& left, const Range& right) {
    return left.start < right.start;
  });
}

}  // namespace

// libdw tries the name alone, beside the file that we opened, and then in the folder that the unit
// was compiled in.
bool DwarfUnit::may_open_split() {
  std::uint8_t type = 0;
  if (::dwarf_cu_info(entry_.cu, nullptr, &type, nullptr, nullptr, nullptr, nullptr, nullptr) !=
          0 ||
      type != DW_UT_skeleton) {
    return false;
  }
  const std::string name = string_attribute(entry_, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
  const std::string folder = string_attribute(entry_, DW_AT_comp_dir, DW_AT_comp_dir);
  return is_path_of_ours(name.starts_with('/') ? name : folder + "/" + name);
}

Dwarf_Die& DwarfUnit::body() {
  if (!looked_for_body_) {
    looked_for_body_ = true;
    body_ = entry_;
    Dwarf_Die split{};
    if (may_open_split() &&
        ::dwarf_cu_info(entry_.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) ==
            0 &&
        split.cu != nullptr) {
      body_ = split;
    }
  }
  return body_;
}

// libdw keeps a row for each byte of a line program, in the worst case, and two while it reads.
bool DwarfUnit::may_read_lines() {
  constexpr std::uint64_t kWorstRowBytes = 128;
  constexpr std::uint64_t kRowBytes = 48;
  if (!reads_lines_) {
    reads_lines_ = line_memory_.grow(line_program_bytes(entry_) * kWorstRowBytes);
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (*reads_lines_ && ::dwarf_getsrclines(&entry_, &lines, &count) == 0) {
      line_memory_.shrink(count * kRowBytes);
    }
  }
  return *reads_lines_;
}

Dwarf_Line* DwarfUnit::line_at(std::uint64_t svma) {
  return may_read_lines() ? ::dwarf_getsrc_die(&entry_, svma) : nullptr;
}

Dwarf_Files* DwarfUnit::files(std::size_t& count) {
  Dwarf_Files* files = nullptr;
  const bool found = may_read_lines() && ::dwarf_getsrcfiles(&body(), &files, &count) == 0;
  return found ? files : nullptr;
}

const DwarfFunction* DwarfUnit::function_at(std::uint64_t svma) {
  for (const Index depth : {Index::TopLevel, Index::All}) {
    if (index_ < depth) {
      index_functions(depth);
    }
    if (const DwarfFunction* found = find_covering(functions_, svma)) {
      return found;
    }
  }
  return nullptr;
}

void DwarfUnit::index_functions(Index depth) {
  functions_.clear();
  collect_functions(body(), depth == Index::All, 0, functions_);
  sort_by_start(functions_);
  index_ = depth;
}

DwarfUnits::DwarfUnits(Dwarf* dwarf) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die entry;
  std::uint8_t type = 0;
  for (std::size_t count = 0;
       count < kMaxUnits && ranges_.size() < kMaxUnitRanges &&
       ::dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &entry, nullptr) == 0;
       ++count) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) {
      continue;
    }
    const std::size_t index = units_.size();
    units_.emplace_back(entry);
    for_each_range(entry, [&](std::uint64_t start, std::uint64_t limit) {
      ranges_.push_back({start, limit, index});
      return ranges_.size() < kMaxUnitRanges;
    });
  }
  sort_by_start(ranges_);
}

DwarfUnit* DwarfUnits::at(std::uint64_t svma) {
  const Range* range = find_covering(ranges_, svma);
  return range == nullptr ? nullptr : &units_[range->unit];
}

}  // namespace memtrace
