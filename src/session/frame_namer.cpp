#include "session/frame_namer.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "os/kallsyms.h"
#include "os/system.h"
#include "state/process/describe_module.h"

namespace memtrace {
namespace {

// x86-64: modules are loaded above the kernel's own gigabyte (MODULES_VADDR).
constexpr std::uint64_t kFirstKernelModule = 0xffffffffc0000000U;

// The address of a symbol of the running kernel; 0 when it is hidden or not there.
std::uint64_t kernel_symbol(const std::string& symbol) {
  const auto symbols = read_file("/proc/kallsyms");
  const auto line = symbols.ok() ? find_kallsyms_line(symbols.value(), symbol) : std::nullopt;
  return line && line->module.empty() ? line->address : 0;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Frame frame_of(const FrameName& name, bool kernel) {
  Frame frame{.function = name.function,
              .module = name.module,
              .file = name.file,
              .line = name.line,
              .kernel = kernel,
              .inlined = name.inlined};
  if (frame.function.empty()) {
    frame.function = name.module + fmt::format("+0x{:x}", name.module_offset);
  }
  return frame;
}

}  // namespace

FrameNamer::FrameNamer(const World& world, const Recording& recording, bool live)
    : world_(world), recording_(recording), symbolizer_(Symbolizer::Options{}) {
  same_kernel_ = live || recording.kernel_release.empty() ||
                 recording.kernel_release == machine_name().kernel_release;
}

void FrameNamer::forget() {
  locations_.clear();
  stacks_.clear();
  symbolizer_.close_files();
}

const Frames& FrameNamer::location(LocationId id) {
  const auto [found, is_new] = locations_.try_emplace(id);
  if (is_new && id.valid()) {
    found->second = name(world_.stacks().location(id));
  }
  return found->second;
}

const Frames& FrameNamer::stack(StackId id) {
  return stacks_.of(id, [this, id] {
    Frames frames;
    for (const LocationId location_id : world_.stacks().locations(id)) {
      const Frames& inlined = location(location_id);
      frames.insert(frames.end(), inlined.begin(), inlined.end());
    }
    return frames;
  });
}

Frames FrameNamer::name(const CodeLocation& location) {
  if (!location.module.valid()) {
    return {{.function = "[unknown]"}};
  }
  // A pipe brings the names at its end, long after the first event.
  if (!tried_embedded_ && !recording_.symbols_json.empty()) {
    tried_embedded_ = true;
    auto parsed = EmbeddedSymbols::parse(recording_.symbols_json);
    if (parsed.ok()) {
      embedded_ = parsed.take();
    } else {
      caveats_.push_back(describe(parsed.error()));
    }
  }
  Frames frames = names_of(location, world_.modules().at(location.module));
  for (Frame& frame : frames) {
    frame.file_id = location.module;
    frame.address = location.lookup_offset();
  }
  return frames;
}

Frames FrameNamer::names_of(const CodeLocation& location, const Module& module) {
  auto stored = embedded_.find(module, location.lookup_offset());
  return stored ? std::move(*stored) : from_symbolizer(location, module);
}

CodeFile FrameNamer::module(ModuleId id) {
  const Module& module = world_.modules().at(id);
  return {.path = module.path, .build_id = build_id_of(module)};
}

Frames FrameNamer::from_symbolizer(const CodeLocation& location, const Module& module) {
  const bool kernel = module.kind == ModuleKind::Kernel;
  if (kernel && !same_kernel_) {
    if (caveats_.empty()) {
      caveats_.push_back("the recording is of kernel " + recording_.kernel_release +
                         ", which is not running here: kernel functions have no names");
    }
    return {frame_of({.module = "[kernel]", .module_offset = location.offset}, true)};
  }
  const std::uint64_t shift = kernel ? kernel_shift() : 0;
  if (shift != 0 && location.offset >= kFirstKernelModule) {
    // Modules move on their own at each boot.
    return {frame_of({.module = "[kernel]", .module_offset = location.offset}, true)};
  }
  ModuleDescription description = describe_module(module);
  description.build_id = build_id_of(module);
  Frames frames;
  for (const FrameName& frame :
       symbolizer_.name(location.module, description, location.lookup_offset() + shift)) {
    frames.push_back(frame_of(frame, kernel));
  }
  if (frames.empty()) {
    frames.push_back(
        frame_of({.module = base_name(module.path), .module_offset = location.offset}, kernel));
  }
  return frames;
}

// KASLR: how far the running kernel lies from where it lay in the recording.
std::uint64_t FrameNamer::kernel_shift() {
  if (!kernel_shift_) {
    const World::KernelPlace& place = world_.kernel_place();
    const std::uint64_t here = place.avma == 0 ? 0 : kernel_symbol(place.symbol);
    kernel_shift_ = here == 0 ? 0 : here - place.avma;
  }
  return *kernel_shift_;
}

std::string FrameNamer::build_id_of(const Module& module) const {
  if (!module.build_id.empty()) {
    return module.build_id;
  }
  std::string found;
  for (const BuildIdEntry& entry : recording_.build_ids) {
    if (entry.path != module.path) {
      continue;
    }
    if (!found.empty() && found != entry.build_id) {
      return {};  // two files of that path, one of them below chroot(2): nobody says whose it is
    }
    found = entry.build_id;
  }
  return found;
}

std::vector<std::string> FrameNamer::caveats() const {
  std::vector<std::string> all = caveats_;
  const auto& more = symbolizer_.caveats();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace memtrace
