#include "symbolize/cfi/frame_rule.h"

#include <unordered_map>

#include "os/procfs.h"
#include "symbolize/cfi/cfi_reader.h"
#include "symbolize/elf/module_file.h"
#include "symbolize/elf/vdso.h"

namespace memtrace {

struct FrameRules::State {
  CfiReader cfi;
  std::unordered_map<std::uint64_t, std::optional<FrameRule>> by_offset{};
  // The nodes of an unordered_map stay where they are.
  std::unordered_map<std::uint64_t, std::optional<FullFrameRule>> full_by_offset{};
};

std::unique_ptr<FrameRules> FrameRules::open(const std::string& path) {
  return open({.kind = ModuleKind::File, .path = path}, {});
}

std::unique_ptr<FrameRules> FrameRules::open(const ModuleDescription& module,
                                             const DebugPlaces& places) {
  SymbolCaveats ignored;  // naming the same modules says them
  std::optional<ElfFile> file;
  if (module.kind == ModuleKind::File) {
    file = find_module_file(module, places, ignored);
  } else if (module.kind == ModuleKind::Vdso) {
    auto vdso = open_vdso();
    file = vdso.ok() ? std::optional(vdso.take()) : std::nullopt;
  }
  if (!file) {
    return nullptr;
  }
  std::unique_ptr<State> state(
      new State{.cfi = CfiReader(std::move(*file), without_deleted(module.path), places)});
  if (!state->cfi.has_rules()) {
    return nullptr;
  }
  return std::unique_ptr<FrameRules>(new FrameRules(std::move(state)));
}

FrameRules::FrameRules(std::unique_ptr<State> state) : state_(std::move(state)) {}

FrameRules::~FrameRules() = default;

std::optional<FrameRule> FrameRules::at(std::uint64_t file_offset) {
  const auto [place, is_new] = state_->by_offset.try_emplace(file_offset);
  if (is_new) {
    place->second = state_->cfi.rule(file_offset);
  }
  return place->second;
}

const FullFrameRule* FrameRules::full_at(std::uint64_t file_offset) {
  const auto [place, is_new] = state_->full_by_offset.try_emplace(file_offset);
  if (is_new) {
    place->second = state_->cfi.full_rule(file_offset);
  }
  return place->second ? &*place->second : nullptr;
}

}  // namespace memtrace
