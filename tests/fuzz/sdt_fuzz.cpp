// Static probes: a file's notes, and the text of a probe's arguments.
#include "fuzz/fuzz_target.h"
#include "fuzz/memory_file.h"
#include "symbolize/code/sdt_notes.h"

namespace memtrace::fuzz {

void fuzz_sdt(Input input) {
  const MemoryFile file(input);
  const auto probes = read_sdt_probes(file.path());
  if (probes.ok()) {
    for (const SdtProbe& probe : probes.value()) {
      static_cast<void>(fetch_arguments(probe));
    }
  }
  const SdtSymbols symbols = [](std::string_view symbol) -> std::optional<std::int64_t> {
    return symbol.size() % 2 == 0 ? std::optional<std::int64_t>(-16) : std::nullopt;
  };
  static_cast<void>(parse_sdt_arguments(text_of(input), symbols));
}

}  // namespace memtrace::fuzz
