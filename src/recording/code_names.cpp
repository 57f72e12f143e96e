#include "recording/code_names.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

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

// To the system: a file's debug information is a great many small blocks, which malloc would keep.
// The C library may have no such function.
void give_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

class SplitNamer final : public Namer {
 public:
  SplitNamer(const World& world, FrameNamer& kernel, FrameNamer& files, ModuleId& open)
      : world_(world), kernel_(kernel), files_(files), open_(open) {}

  const Frames& stack(StackId id) override { return files_.stack(id); }

  const Frames& location(LocationId id) override {
    const ModuleId module = world_.stacks().location(id).module;
    if (module == world_.modules().kernel()) {
      return kernel_.location(id);
    }
    if (std::exchange(open_, module) != module) {
      files_.forget();
    }
    return files_.location(id);
  }

 private:
  const World& world_;
  FrameNamer& kernel_;
  FrameNamer& files_;
  ModuleId& open_;  // the only file of which anything is kept
};

}  // namespace

void CodeNamer::add_build_ids(const World& world, const std::function<bool()>& is_over) {
  if (build_ids_.empty()) {
    build_ids_.push_back(
        {.path = "[kernel.kallsyms]", .build_id = running_kernel_build_id(), .kernel = true});
  }
  for (; modules_ < world.modules().size() && !is_over(); ++modules_) {
    const Module& module = world.modules().at(ModuleId{modules_ + 1});
    if (module.kind == ModuleKind::File) {
      build_ids_.push_back({.path = module.path, .build_id = build_id_of(module)});
    }
  }
}

void CodeNamer::read_kernel(const World& world, const Recording& recording) {
  kernel_.emplace(world, recording, true);
  kernel_->read_kernel();
}

bool CodeNamer::look_up(const World& world,
                        const Recording& recording,
                        const std::function<bool()>& is_over) {
  add_build_ids(world, is_over);
  const bool has_ids = modules_ == world.modules().size();
  if (!embed_symbols_) {
    return has_ids;
  }
  if (!kernel_) {
    kernel_.emplace(world, recording, true);
  }
  if (!files_) {
    files_.emplace(world, recording, true);
  }
  SplitNamer naming(world, *kernel_, *files_, open_);
  embed_names(world, naming, is_over, names_);
  note_caveats(*kernel_);
  note_caveats(*files_);
  if (!has_ids || names_.left_out > 0) {
    return false;
  }
  files_.reset();
  open_ = {};
  if (!keeps_memory_) {
    give_memory_back();
  }
  return true;
}

void CodeNamer::note_caveats(const FrameNamer& naming) {
  for (const std::string& caveat : naming.caveats()) {
    if (std::ranges::find(notes_, caveat) == notes_.end()) {
      notes_.push_back(caveat);
    }
  }
}

CodeNames CodeNamer::names() const {
  CodeNames made{.build_ids = build_ids_, .left_out = names_.left_out, .notes = notes_};
  std::erase_if(made.build_ids, [](const BuildIdEntry& entry) { return entry.build_id.empty(); });
  if (embed_symbols_) {
    made.symbols_json = names_.symbols.to_json();
  }
  return made;
}

}  // namespace memtrace
