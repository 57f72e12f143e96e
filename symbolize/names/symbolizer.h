// Facade of this folder: modules and offsets in, names out. Opens each file once, keeps a bounded
// number open, and never fails: what has no name is printed as module+0xoffset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "symbolize/elf/build_id.h"  // read_build_id()
#include "symbolize/elf/code_location.h"
#include "symbolize/elf/module_description.h"
#include "symbolize/names/frame_name.h"

namespace memtrace {

class Symbolizer {
 public:
  struct Options {
    bool inline_frames = true;  // DWARF: inlined functions and lines
    std::string debug_directory = "/usr/lib/debug";
    std::string kallsyms_path = "/proc/kallsyms";
  };

  explicit Symbolizer(Options options);
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  Symbolizer(Symbolizer&&) = delete;
  Symbolizer& operator=(Symbolizer&&) = delete;
  ~Symbolizer();

  // At least one frame; innermost first. `id` is the caller's name for the module: the description
  // is looked at only when the id is seen for the first time.
  std::vector<FrameName> name(ModuleId id,
                              const ModuleDescription& module,
                              std::uint64_t lookup_offset);

  // Reads kallsyms_path now, unless it has been read: megabytes, all at once.
  void read_kernel();

  // Files are kept open, with what was read of them, up to 64. This gives the memory back.
  void close_files();

  // Sentences about what could not be read (kptr_restrict, a build id that does not match).
  const std::vector<std::string>& caveats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace memtrace
