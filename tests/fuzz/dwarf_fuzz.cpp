// DWARF of a file: functions, inlined calls and lines.
#include "fuzz/fuzz_target.h"
#include "fuzz/memory_file.h"
#include "symbolize/names/inline_frames.h"

namespace memtrace::fuzz {

void fuzz_dwarf(Input input) {
  const MemoryFile file(input);
  const auto elf = ElfFile::open(file.path());
  if (!elf.ok()) {
    return;
  }
  auto frames = InlineFrames::open(elf.value());
  if (!frames.ok() || frames.value() == nullptr) {
    return;
  }
  const std::uint64_t base = elf.value().base_svma();
  constexpr std::uint64_t kStep = 5;
  constexpr std::uint64_t kMaxPlaces = 512;
  for (std::uint64_t place = 0; place < kMaxPlaces; ++place) {
    static_cast<void>(frames.value()->at(base + place * kStep));
  }
  static_cast<void>(frames.value()->left_out_lines());
}

}  // namespace memtrace::fuzz
