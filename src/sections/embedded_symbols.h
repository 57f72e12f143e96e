// The names of all addresses of a recording, as `record` stores them in the file (a feature section
// that perf skips) and `report` reads them back, on another machine or after the programs are gone.
//
// {"version":1,"modules":[{"module":"/usr/lib/libc.so.6","file":"MAJOR:MINOR:INODE",
//                           "at":[[OFFSET,[FRAME,...]],...]}]}
// FRAME = [function, module, file, line, kernel, inlined], innermost first. OFFSET is
// CodeLocation::lookup_offset().
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "report/report.h"
#include "state/process/module_table.h"

namespace memtrace {

class EmbeddedSymbols {
 public:
  // Error: not the JSON that we write.
  static Result<EmbeddedSymbols> parse(const std::string& json);

  void add(const Module& module, std::uint64_t lookup_offset, const Frames& frames);

  // Takes over what the other has.
  void merge(EmbeddedSymbols&& other);

  // nullptr when the address was not seen by the recording.
  const Frames* find(const Module& module, std::uint64_t lookup_offset) const;

  bool empty() const { return modules_.empty(); }

  std::string to_json() const;

 private:
  using Places = std::unordered_map<std::uint64_t, Frames>;

  std::unordered_map<std::string, Places> modules_;  // by key_of()
};

}  // namespace memtrace
