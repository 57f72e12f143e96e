// Facade of this folder: modules and offsets in, names out. Opens each file once, keeps a bounded
// number open, and never fails: what has no name is printed as module+0xoffset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "symbolize/code_location.h"

namespace memtrace {

// What the symbolizer has to know of a module; state/module_table.h holds them.
struct ModuleDescription {
  ModuleKind kind = ModuleKind::Unknown;
  std::string path;      // as mapped; "[kernel.kallsyms]" for the kernel
  std::string build_id;  // lower-case hex, or ""
  std::uint32_t pid =
      0;  // of Anonymous: for /tmp/perf-PID.map; of File: whose /proc/PID/root to use
};

// One function of an address; inlined functions come first, the one they were inlined into last.
struct FrameName {
  std::string function;  // demangled; "" when nothing is known
  std::uint64_t offset_in_function = 0;
  std::string module;               // "libc.so.6", "[kernel]", "[nf_tables]"
  std::uint64_t module_offset = 0;  // what to print when there is no function
  std::string file;                 // "" without line information
  std::uint32_t line = 0;
  bool inlined = false;
};

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
  ~Symbolizer();

  // At least one frame; innermost first. `id` is the caller's name for the module: the description
  // is looked at only when the id is seen for the first time.
  std::vector<FrameName> name(ModuleId id,
                              const ModuleDescription& module,
                              std::uint64_t lookup_offset);

  // Sentences about what could not be read (kptr_restrict, a build id that does not match).
  const std::vector<std::string>& caveats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The build id of an ELF file in lower-case hex, "" when it has none or cannot be read.
std::string read_build_id(const std::string& path);

}  // namespace memtrace
