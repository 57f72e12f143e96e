// The names of all addresses that a recording has seen, to be stored in its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "report/namer.h"
#include "sections/symbols_text.h"
#include "state/world/world.h"

namespace memtrace {

struct EmbeddedNames {
  SymbolsText symbols;
  std::uint32_t listed = 0;         // number of the world's locations that were listed to be named
  std::vector<LocationId> to_name;  // those that are not done, the next one last
  std::size_t left_out = 0;         // addresses
};

// Adds those that are not in `names` yet, file by file: the files of a busy machine's processes do
// not fit into memory together. Files of gigabytes may have to be read: `is_over` is asked before
// each address, and when it says so the others are left out.
void embed_names(const World& world,
                 Namer& namer,
                 const std::function<bool()>& is_over,
                 EmbeddedNames& names);

}  // namespace memtrace
