// Keys of events that are whole system calls.
#pragma once

#include "views/kit/keys.h"

namespace memtrace {

std::uint64_t call_word(const Event& event);
Cell call_cell(std::uint64_t word, const CellContext& context);
std::uint64_t error_word(const Event& event);
Cell error_cell(std::uint64_t word, const CellContext& context);

inline constexpr KeySpec kCallKey = {"call", Unit::Text, call_word, nullptr, call_cell};

// "ENOMEM"; blank for a call that succeeded.
inline constexpr KeySpec kCallErrorKey = {"error", Unit::Text, error_word, nullptr, error_cell};

}  // namespace memtrace
