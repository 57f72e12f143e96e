// All code that returns in the place of one function: its own, and that of the functions that it
// jumps to at its end, and they in turn. These are often local and have no symbols, or are reached
// through the linker's stubs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolize/code/function_table.h"
#include "symbolize/code/probe_place.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/names/symbol_table.h"

namespace memtrace {

struct CodePiece {
  std::uint64_t file_offset = 0;
  std::vector<std::byte> bytes;
};

class TailCode {
 public:
  // `table` is of the file at `path`, and outlives this.
  TailCode(const std::string& path, const FunctionTable& table);

  // The function itself is first. A file may say that it jumps anywhere: there are no more pieces
  // than any compiler makes.
  std::vector<CodePiece> of(CodePiece function) const;

  // For the linker's stub of a function of this very file: where the function is. For any other
  // place the place itself.
  std::uint64_t behind_stub(std::uint64_t file_offset) const;

 private:
  std::string path_;
  const FunctionTable& table_;
  std::optional<ElfFile> file_;
  SymbolTable stubs_;
  std::unordered_map<std::string_view, std::uint64_t> offsets_;  // by name; of a file with stubs
};

// How long the function is that begins here: up to the first instruction that does not go on and
// that no branch before passes by. All bytes when there is none such.
std::size_t function_extent(std::span<const std::byte> bytes);

}  // namespace memtrace
