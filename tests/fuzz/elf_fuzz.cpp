// A program, library or debug file that somebody else made: its headers, symbols and names.
#include "base/text.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/memory_file.h"
#include "programs/dynamic_section.h"
#include "programs/loader_cache.h"
#include "symbolize/code/function_table.h"
#include "symbolize/code/initial_pointer.h"
#include "symbolize/code/tail_code.h"
#include "symbolize/elf/build_id.h"
#include "symbolize/elf/load_layout.h"
#include "symbolize/elf/program_interpreter.h"
#include "symbolize/names/file_symbols.h"

namespace memtrace::fuzz {
namespace {

constexpr std::size_t kMaxPlaces = 64;

void name_places(const std::string& path, const DebugPlaces& places) {
  auto file = ElfFile::open(path);
  if (!file.ok()) {
    return;
  }
  static_cast<void>(file.value().build_id());
  static_cast<void>(initial_target(file.value(), "__malloc_hook"));
  static_cast<void>(file_offset_of(file.value(), file.value().base_svma()));
  FileSymbols symbols = FileSymbols::load(file.take(), path, places, false);
  constexpr std::uint64_t kStep = 48;
  for (std::uint64_t place = 0; place < kMaxPlaces; ++place) {
    static_cast<void>(symbols.name(place * kStep));
  }
  static_cast<void>(symbols.problem());
}

void find_functions(const std::string& path, const DebugPlaces& places) {
  const auto table = FunctionTable::load(path, path, places);
  if (!table.ok()) {
    return;
  }
  for (const char* pattern : {"malloc", "*alloc*", "Pool::take*", "mallc"}) {
    static_cast<void>(table.value().find(pattern));
  }
  const TailCode code(path, table.value());
  std::size_t looked_at = 0;
  for (const Function& function : table.value().functions()) {
    auto bytes = code_bytes(path, function.file_offset, function.size_bytes);
    if (bytes.ok() && ++looked_at < kMaxPlaces) {
      static_cast<void>(code.of({function.file_offset, bytes.take()}));
      static_cast<void>(code.behind_stub(function.file_offset));
    }
  }
}

}  // namespace

void fuzz_elf(Input input) {
  const MemoryFile file(input);
  const DebugPlaces nowhere{.debug_directory = "/proc/self/fdinfo", .roots = {""}};
  name_places(file.path(), nowhere);
  find_functions(file.path(), nowhere);
  static_cast<void>(read_build_id(file.path()));
  static_cast<void>(build_id_in_notes(input));
  static_cast<void>(program_interpreter(file.path()));
  static_cast<void>(read_dynamic_section(file.path()));
  static_cast<void>(LoaderCache::open(file.path()).find("libc.so.6"));
}

}  // namespace memtrace::fuzz
