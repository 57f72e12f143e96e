// The names of all addresses that a recording has seen, to be stored in its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "report/namer.h"
#include "sections/embedded_symbols.h"
#include "state/world/world.h"

namespace memtrace {

struct EmbeddedNames {
  EmbeddedSymbols symbols;
  std::uint32_t named = 0;   // number of the world's locations that are done
  std::size_t left_out = 0;  // addresses
};

// Adds those that are not in `names` yet. Files of gigabytes may have to be read for them:
// `is_over` is asked before each, and when it says so the others are left out.
void embed_names(const World& world,
                 Namer& namer,
                 const std::function<bool()>& is_over,
                 EmbeddedNames& names);

}  // namespace memtrace
