// StackIds and LocationIds to frames with names: from the recording itself if it holds them, else
// from this machine's files by the symbolizer. Neither of the two knows of the other.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/record/recording.h"
#include "report/namer.h"
#include "sections/embedded_symbols.h"
#include "session/named_stacks.h"
#include "state/world/world.h"
#include "symbolize/names/symbolizer.h"

namespace memtrace {

class FrameNamer final : public Namer {
 public:
  // All three outlive the naming. Kernel names of this machine are only used for a recording of
  // the kernel that is running.
  FrameNamer(const World& world, const Recording& recording, bool live);

  const Frames& stack(StackId id) override;
  const Frames& location(LocationId id) override;
  CodeFile module(ModuleId id) override;

  // Reads the running kernel's symbols now, and not with the first address in the kernel.
  void read_kernel() { symbolizer_.read_kernel(); }

  // Names that were given out, and the files that they are from, are not needed any more.
  void forget();

  // Sentences about names that could not be had.
  std::vector<std::string> caveats() const;

 private:
  Frames name(const CodeLocation& location);
  Frames names_of(const CodeLocation& location, const Module& module);
  Frames from_symbolizer(const CodeLocation& location, const Module& module);
  std::string build_id_of(const Module& module) const;
  std::uint64_t kernel_shift();

  const World& world_;
  const Recording& recording_;
  Symbolizer symbolizer_;
  EmbeddedSymbols embedded_;
  bool same_kernel_ = true;
  bool tried_embedded_ = false;
  std::optional<std::uint64_t> kernel_shift_;  // to add to the recording's kernel addresses
  std::vector<std::string> caveats_;
  std::unordered_map<LocationId, Frames> locations_;
  NamedStacks stacks_;
};

}  // namespace memtrace
