#include "symbolize/names/symbolizer.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "os/procfs.h"
#include "os/system.h"
#include "symbolize/elf/build_id.h"
#include "symbolize/elf/caveats.h"
#include "symbolize/elf/module_file.h"
#include "symbolize/elf/vdso.h"
#include "symbolize/names/file_symbols.h"
#include "symbolize/names/kernel_symbols.h"
#include "symbolize/names/perf_map.h"

namespace memtrace {

namespace {

// Each may map three files (itself, its debug file, dwz's common file).
constexpr std::size_t kMaxOpenFiles = 64;

constexpr const char* kOwnKallsyms = "/proc/kallsyms";

std::string file_name_of(const std::string& mapped_path) {
  const std::string path = without_deleted(mapped_path);
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.empty() ? "[unknown]" : name;
}

std::string shown_name(const ModuleDescription& module) {
  switch (module.kind) {
    case ModuleKind::Kernel:
      return "[kernel]";
    case ModuleKind::Vdso:
      return "[vdso]";
    case ModuleKind::File:
      return file_name_of(module.path);
    case ModuleKind::Anonymous:
      return module.path.starts_with('[') ? module.path : "[anon]";
    case ModuleKind::Unknown:
      break;
  }
  return module.path.empty() ? "[unknown]" : module.path;
}

}  // namespace

struct Symbolizer::State {
  struct OpenFile {
    std::optional<FileSymbols> symbols;  // nothing: no file was found, which is not tried again
    std::uint64_t last_use = 0;
  };

  Options options;
  SymbolCaveats caveats;
  std::unordered_map<ModuleId, ModuleDescription> modules;
  std::unordered_map<ModuleId, OpenFile> files;
  std::uint64_t use_count = 0;
  std::unordered_map<std::uint32_t, PerfMapFile> perf_maps;
  std::unordered_map<ModuleId, bool> kernel_matches;
  std::optional<KernelSymbols> kernel;

  std::vector<FrameName> name(ModuleId id, const ModuleDescription& module, std::uint64_t offset);
  std::vector<FrameName> name_in_file(ModuleId id,
                                      const ModuleDescription& module,
                                      std::uint64_t offset);
  std::vector<FrameName> name_in_kernel(ModuleId id,
                                        const ModuleDescription& module,
                                        std::uint64_t avma);
  std::vector<FrameName> name_in_perf_map(const ModuleDescription& module, std::uint64_t avma);
  std::optional<FileSymbols> load(const ModuleDescription& module);
  std::optional<FileSymbols> load_vdso(const ModuleDescription& module);
  bool is_running_kernel(const ModuleDescription& module);
  void load_kernel();
  void close_least_used();
};

std::vector<FrameName> Symbolizer::State::name(ModuleId id,
                                               const ModuleDescription& module,
                                               std::uint64_t offset) {
  switch (module.kind) {
    case ModuleKind::File:
    case ModuleKind::Vdso:
      return name_in_file(id, module, offset);
    case ModuleKind::Kernel:
      return name_in_kernel(id, module, offset);
    case ModuleKind::Anonymous:
      return name_in_perf_map(module, offset);
    case ModuleKind::Unknown:
      break;
  }
  return {};
}

std::vector<FrameName> Symbolizer::State::name_in_file(ModuleId id,
                                                       const ModuleDescription& module,
                                                       std::uint64_t offset) {
  if (!files.contains(id)) {
    if (files.size() >= kMaxOpenFiles) {
      close_least_used();
    }
    files[id].symbols = load(module);
  }
  OpenFile& file = files[id];
  file.last_use = ++use_count;
  auto frames = file.symbols ? file.symbols->name(offset) : std::vector<FrameName>();
  if (file.symbols && !file.symbols->problem().empty()) {
    caveats.add("not all names in " + module.path + " were read: " + file.symbols->problem());
  }
  return frames;
}

void Symbolizer::State::close_least_used() {
  files.erase(std::min_element(files.begin(), files.end(), [](const auto& left, const auto& right) {
    return left.second.last_use < right.second.last_use;
  }));
}

std::optional<FileSymbols> Symbolizer::State::load(const ModuleDescription& module) {
  if (module.kind == ModuleKind::Vdso) {
    return load_vdso(module);
  }
  const DebugPlaces places{options.debug_directory, roots_of(module)};
  auto file = find_module_file(module, places, caveats);
  if (!file) {
    return std::nullopt;
  }
  return FileSymbols::load(
      std::move(*file), without_deleted(module.path), places, options.inline_frames);
}

std::optional<FileSymbols> Symbolizer::State::load_vdso(const ModuleDescription& module) {
  auto vdso = open_vdso();
  if (!vdso.ok()) {
    return std::nullopt;
  }
  if (!module.build_id.empty() && !same_build_id(vdso.value().build_id(), module.build_id)) {
    caveats.add("the vdso is that of another kernel: its functions are not named");
    return std::nullopt;
  }
  return FileSymbols::load(vdso.take(), "", {options.debug_directory}, false);
}

std::vector<FrameName> Symbolizer::State::name_in_kernel(ModuleId id,
                                                         const ModuleDescription& module,
                                                         std::uint64_t avma) {
  const auto [matches, is_new] = kernel_matches.try_emplace(id, true);
  if (is_new) {
    matches->second = is_running_kernel(module);
  }
  if (!matches->second) {
    return {};
  }
  if (!kernel) {
    load_kernel();
  }
  const auto match = kernel->find(avma);
  if (!match) {
    return {};
  }
  FrameName frame;
  frame.function = match->function;
  frame.offset_in_function = match->offset;
  frame.module = match->module;
  return {frame};
}

bool Symbolizer::State::is_running_kernel(const ModuleDescription& module) {
  if (module.build_id.empty() || options.kallsyms_path != kOwnKallsyms) {
    return true;
  }
  const std::string running = running_kernel_build_id();
  if (running.empty() || same_build_id(running, module.build_id)) {
    return true;
  }
  caveats.add(
      "the recording is of another kernel than the running one: its functions are not "
      "named");
  return false;
}

void Symbolizer::State::load_kernel() {
  auto text = read_file(options.kallsyms_path);
  if (!text.ok()) {
    caveats.add("kernel functions are not named: " + describe(text.error()));
  }
  kernel = KernelSymbols::parse(text.ok() ? text.take() : "");
  if (kernel->is_hidden()) {
    caveats.add(hidden_symbols_caveat(options.kallsyms_path));
  }
}

std::vector<FrameName> Symbolizer::State::name_in_perf_map(const ModuleDescription& module,
                                                           std::uint64_t avma) {
  if (module.pid == 0) {
    return {};
  }
  auto& map = perf_maps.try_emplace(module.pid, module.pid).first->second;
  const auto match = map.find(avma);
  if (!map.problem().empty()) {
    caveats.add(map.problem());
  }
  if (!match) {
    return {};
  }
  FrameName frame;
  frame.function = match->function;
  frame.offset_in_function = match->offset;
  frame.module = "[jit]";
  return {frame};
}

Symbolizer::Symbolizer(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

Symbolizer::~Symbolizer() = default;

std::vector<FrameName> Symbolizer::name(ModuleId id,
                                        const ModuleDescription& module,
                                        std::uint64_t lookup_offset) {
  const ModuleDescription& known = state_->modules.try_emplace(id, module).first->second;
  std::vector<FrameName> frames = state_->name(id, known, lookup_offset);
  if (frames.empty()) {
    frames.emplace_back();
  }
  for (FrameName& frame : frames) {
    if (frame.module.empty()) {
      frame.module = shown_name(known);
    }
    frame.module_offset = lookup_offset;
  }
  return frames;
}

void Symbolizer::read_kernel() {
  if (!state_->kernel) {
    state_->load_kernel();
  }
}

void Symbolizer::close_files() {
  state_->files.clear();
}

const std::vector<std::string>& Symbolizer::caveats() const {
  return state_->caveats.sentences();
}

}  // namespace memtrace
