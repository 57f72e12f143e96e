// The names of code places as the JSON that a recording holds, written as they come: of a machine
// that was watched for an hour they are hundreds of thousands.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "report/namer.h"
#include "state/process/module_table.h"

namespace memtrace {

// The path and file of a module as one string: anonymous code of different processes has nothing in
// common, and below chroot(2) two files have the same path.
struct ModuleKey {
  std::string name;
  std::string file;  // "fe:1:131"; "" when the recording does not have it

  static ModuleKey of(const Module& module);

  // "" as `file` gives the key of a file that is written without numbers.
  std::string text() const;
};

class SymbolsText {
 public:
  // A place that is added again replaces the one before.
  void add(const Module& module, std::uint64_t lookup_offset, const Frames& frames) {
    add(ModuleKey::of(module).text(), lookup_offset, frames);
  }

  // `key` is ModuleKey::text().
  void add(const std::string& key, std::uint64_t lookup_offset, const Frames& frames);

  // {"modules": [{"at": [[offset, [frame, ...]], ...], "file": "...", "module": "..."}, ...],
  // "version": 1}; a frame is [function, module, file, line, kernel, inlined].
  std::string to_json() const;

 private:
  std::map<std::string, std::string> places_;  // by ModuleKey::text(): what is between "at"'s []
};

}  // namespace memtrace
