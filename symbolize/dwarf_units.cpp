#include "symbolize/dwarf_units.h"

#include <dwarf.h>

#include <algorithm>

#include "symbolize/range_search.h"

namespace memtrace {

namespace {

constexpr int kMaxNesting = 64;  // of namespaces and types; a broken file may claim any depth

// Functions lie in units and namespaces. Those inside types and other functions (Ada, Fortran, GNU
// C) are looked for only on demand: most entries of a unit are in there.
void collect_functions(Dwarf_Die& parent,
                       bool everywhere,
                       int nesting,
                       std::vector<DwarfFunction>& functions) {
  Dwarf_Die child;
  if (nesting > kMaxNesting || ::dwarf_child(&parent, &child) != 0) {
    return;
  }
  do {
    const int tag = ::dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      for_each_range(child, [&](std::uint64_t start, std::uint64_t limit) {
        functions.push_back({start, limit, child});
      });
    }
    if (everywhere || tag == DW_TAG_namespace || tag == DW_TAG_module) {
      collect_functions(child, everywhere, nesting + 1, functions);
    }
  } while (::dwarf_siblingof(&child, &child) == 0);
}

template <typename Range>
void sort_by_start(std::vector<Range>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& left, const Range& right) {
    return left.start < right.start;
  });
}

}  // namespace

Dwarf_Die& DwarfUnit::body() {
  if (!looked_for_body_) {
    looked_for_body_ = true;
    body_ = entry_;
    std::uint8_t type = 0;
    Dwarf_Die split{};
    const int found =
        ::dwarf_cu_info(entry_.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr);
    if (found == 0 && type == DW_UT_skeleton && split.cu != nullptr) {
      body_ = split;
    }
  }
  return body_;
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
  while (::dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &entry, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) {
      continue;
    }
    const std::size_t index = units_.size();
    units_.emplace_back(entry);
    for_each_range(entry, [&](std::uint64_t start, std::uint64_t limit) {
      ranges_.push_back({start, limit, index});
    });
  }
  sort_by_start(ranges_);
}

DwarfUnit* DwarfUnits::at(std::uint64_t svma) {
  const Range* range = find_covering(ranges_, svma);
  return range == nullptr ? nullptr : &units_[range->unit];
}

}  // namespace memtrace
