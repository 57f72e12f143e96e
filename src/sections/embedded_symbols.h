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
#include <vector>

#include "base/result.h"
#include "report/report.h"
#include "sections/packed_frames.h"
#include "state/process/module_table.h"

namespace memtrace {

class EmbeddedSymbols {
 public:
  // Error: not the JSON that we write.
  static Result<EmbeddedSymbols> parse(const std::string& json);

  void add(const Module& module, std::uint64_t lookup_offset, const Frames& frames);

  // Takes over what the other has and this one has not.
  void merge(const EmbeddedSymbols& other);

  // Nothing when the address was not seen by the recording.
  std::optional<Frames> find(const Module& module, std::uint64_t lookup_offset) const;

  bool empty() const { return modules_.empty(); }

  std::string to_json() const;

 private:
  struct Place {
    std::uint64_t lookup_offset = 0;
    PackedFrames::Range frames;
  };

  using Places = std::vector<Place>;  // by lookup_offset

  static Places::const_iterator find_in(const Places& places, std::uint64_t lookup_offset);
  static void sort(Places& places);

  std::unordered_map<std::string, Places> modules_;  // by ModuleKey::text()
  PackedFrames frames_;
};

}  // namespace memtrace
