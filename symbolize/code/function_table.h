// The functions of one ELF file by name, with the file offsets that probes are placed by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {

// One piece of code under all its names.
struct Function {
  std::vector<std::string> names;  // as linkers know them, without @VERSION; the best known first
  std::uint64_t svma = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;  // 0: the file does not say
  // What lies here only chooses a function, at start-up: a probe on it is never hit by calls.
  bool is_ifunc = false;
};

class FunctionTable {
 public:
  // From the file's own tables and those of its debug file. `mapped_path` is what its process
  // knows the file as. Error: the file cannot be read.
  static Result<FunctionTable> load(const std::string& path,
                                    const std::string& mapped_path,
                                    const DebugPlaces& places);

  // The table from the machine's own debug files.
  static Result<FunctionTable> load(const std::string& path);

  // By address. `pattern` is a name or has * and ?; a C++ name may be written as people do
  // ("Pool::take*"). Error: Usage, with the nearest names; a file without any symbols says so.
  Result<std::vector<Function>> find(std::string_view pattern) const;

  const std::vector<Function>& functions() const { return functions_; }

  // EM_*.
  std::uint16_t machine() const { return machine_; }

 private:
  FunctionTable() = default;

  void add_section(const ElfFile& source, const ElfFile& file, std::uint32_t section_type);
  void merge_aliases();
  Error unknown(std::string_view pattern) const;

  std::string path_;
  std::uint16_t machine_ = 0;
  bool is_static_ = false;
  std::vector<Function> functions_;
};

// The bytes of a file as they will be mapped. Error: it cannot be read, or is shorter.
Result<std::vector<std::byte>> code_bytes(const std::string& path,
                                          std::uint64_t file_offset,
                                          std::uint64_t size_bytes);

}  // namespace memtrace
