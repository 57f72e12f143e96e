// Reads what SymbolsText writes, value by value: as a tree of JSON it would take thirty times the
// memory of the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "report/report.h"
#include "sections/symbols_text.h"

namespace memtrace {

struct SymbolsSink {
  std::function<void(std::uint64_t lookup_offset, const Frames& frames)> place;
  std::function<void(const ModuleKey& module)> module;  // behind its places
};

// Error: not the JSON that SymbolsText writes. What came before it has been given out.
Result<> read_symbols(const std::string& json, const SymbolsSink& sink);

}  // namespace memtrace
