// What only the machine that recorded can say of code: build ids of the files that addresses were
// seen in, and the names of these addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "perf/record/recording.h"
#include "recording/embed_names.h"
#include "session/frame_namer.h"
#include "state/world/world.h"

namespace memtrace {

struct CodeNames {
  std::vector<BuildIdEntry> build_ids;
  std::string symbols_json;        // "" without `embed_symbols`
  std::size_t left_out = 0;        // addresses: no time was left for their names
  std::vector<std::string> notes;  // what has no name, and why
};

// A recording of several files asks for each: what was named once is not looked up again.
class CodeNamer {
 public:
  // `keeps_memory`: what was read of files is not given back to the system.
  explicit CodeNamer(bool embed_symbols, bool keeps_memory = false)
      : embed_symbols_(embed_symbols), keeps_memory_(keeps_memory) {}

  // Reads the kernel's symbols, the largest part of the work, before records come.
  void read_kernel(const World& world, const Recording& recording);

  // Looks up what the world has seen since the last time; always of the same world and recording.
  // `is_over` is asked before each file: once it says so, the others are left out. True: none was.
  bool look_up(const World& world,
               const Recording& recording,
               const std::function<bool()>& is_over);

  // All that was looked up so far.
  CodeNames names() const;

 private:
  void note_caveats(const FrameNamer& naming);
  void add_build_ids(const World& world, const std::function<bool()>& is_over);

  bool embed_symbols_;
  bool keeps_memory_;
  std::optional<FrameNamer> kernel_;  // with its symbols: ten megabytes that do not change
  // What files say is read for each file of a recording anew: a just-in-time compiler adds to its
  // names. Null: all has been looked up.
  std::optional<FrameNamer> files_;
  ModuleId open_;  // the file that was read last
  EmbeddedNames names_;
  std::vector<BuildIdEntry> build_ids_;
  std::uint32_t modules_ = 0;       // number of the world's modules whose build id was read
  std::vector<std::string> notes_;  // what has no name, and why
};

}  // namespace memtrace
