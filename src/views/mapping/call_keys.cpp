#include "views/mapping/call_keys.h"

#include "views/kit/cells.h"
#include "views/mapping/call_names.h"

namespace memtrace {
std::uint64_t call_word(const Event& event) {
  return static_cast<std::uint64_t>(std::get<SystemCallDone>(event.payload).call);
}

Cell call_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(name_of(static_cast<SystemCall>(word)));
}

std::uint64_t error_word(const Event& event) {
  return static_cast<std::uint64_t>(std::get<SystemCallDone>(event.payload).error());
}

Cell error_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != 0, error_name(static_cast<int>(word)));
}

}  // namespace memtrace
