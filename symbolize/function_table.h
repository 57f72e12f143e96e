// The functions of an ELF file as places to probe: by name, with file offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct Function {
  std::vector<std::string> names;  // all names of this address, versions left off
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;  // 0: the symbol does not say
  bool is_ifunc = false;         // a resolver: what it chooses is called, not this

  const std::string& name() const { return names.front(); }
};

class FunctionTable {
 public:
  // From the symbol tables of the file and of its debug file, if there is one. `mapped_path` is
  // what its process knows it as. Error: not an ELF file, not readable.
  static Result<FunctionTable> load(const std::string& path, const std::string& mapped_path);

  // By exact name or a pattern with * and ?, sorted by file offset.
  std::vector<const Function*> find(std::string_view pattern) const;

  // Error: Usage, with the nearest names, or that the file has no symbols at all.
  Result<std::vector<const Function*>> require(std::string_view pattern) const;

  bool empty() const { return functions_.empty(); }

  const std::vector<Function>& functions() const { return functions_; }

 private:
  std::string path_;
  std::vector<Function> functions_;  // sorted by file offset
};

// Bytes of the file as they are mapped; fewer when the file ends before.
Result<std::vector<std::byte>> code_bytes(const std::string& path,
                                          std::uint64_t file_offset,
                                          std::size_t size_bytes);

}  // namespace memtrace
