#include "recording/code_names.h"

#include <fmt/core.h>

#include "recording/embed_names.h"
#include "session/frame_namer.h"
#include "state/process/describe_module.h"
#include "symbolize/elf/build_id.h"
#include "symbolize/elf/module_file.h"

namespace memtrace {
namespace {

// The build id of the file as its process sees it: it may live in another mount namespace, or below
// chroot(2).
std::string build_id_of(const Module& module) {
  SymbolCaveats ignored;  // naming the same modules says them
  const auto file = find_module_file(describe_module(module), {}, ignored);
  return file ? file->build_id() : "";
}

std::vector<BuildIdEntry> build_ids_of(const World& world, const std::function<bool()>& is_over) {
  std::vector<BuildIdEntry> ids{
      {.path = "[kernel.kallsyms]", .build_id = running_kernel_build_id(), .kernel = true}};
  for (std::uint32_t i = 1; i <= world.modules().size() && !is_over(); ++i) {
    const Module& module = world.modules().at(ModuleId{i});
    if (module.kind == ModuleKind::File) {
      ids.push_back({.path = module.path, .build_id = build_id_of(module)});
    }
  }
  std::erase_if(ids, [](const BuildIdEntry& entry) { return entry.build_id.empty(); });
  return ids;
}

}  // namespace

CodeNames code_names(const World& world,
                     const Recording& recording,
                     bool embed_symbols,
                     const std::function<bool()>& is_over) {
  CodeNames made{.build_ids = build_ids_of(world, is_over)};
  if (!embed_symbols) {
    return made;
  }
  FrameNamer naming(world, recording, true);
  const EmbeddedNames names = embed_names(world, naming, is_over);
  made.symbols_json = names.symbols.to_json();
  if (names.left_out > 0) {
    made.notes.push_back(fmt::format(
        "a second signal ended the look-up of names: {} addresses have none in the file, "
        "and only this machine's files can tell them",
        names.left_out));
  }
  for (const std::string& caveat : naming.caveats()) {
    made.notes.push_back(caveat);
  }
  return made;
}

}  // namespace memtrace
