#include "sections/packed_frames.h"

#include <string>

namespace memtrace {

std::size_t PackedFrames::FunctionHash::operator()(const Function& function) const {
  std::uint64_t hash = combine(function.name.value, function.module.value);
  hash = combine(hash, function.file.value);
  return combine(hash, (function.kernel ? 2U : 0U) + (function.inlined ? 1U : 0U));
}

std::uint32_t PackedFrames::intern(const Frame& frame) {
  const Function function{.name = names_.intern(frame.function),
                          .module = names_.intern(frame.module),
                          .file = names_.intern(frame.file),
                          .kernel = frame.kernel,
                          .inlined = frame.inlined};
  const auto [found, is_new] =
      numbers_.try_emplace(function, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) {
    functions_.push_back(function);
  }
  return found->second;
}

PackedFrames::Range PackedFrames::add(const Frames& frames) {
  const Range range{.first = static_cast<std::uint32_t>(lines_.size()),
                    .count = static_cast<std::uint32_t>(frames.size())};
  for (const Frame& frame : frames) {
    lines_.push_back({.function = intern(frame), .line = frame.line});
  }
  return range;
}

Frames PackedFrames::at(Range range) const {
  Frames frames;
  frames.reserve(range.count);
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    const Function& function = functions_[lines_[i].function];
    frames.push_back({.function = std::string(names_.at(function.name)),
                      .module = std::string(names_.at(function.module)),
                      .file = std::string(names_.at(function.file)),
                      .line = lines_[i].line,
                      .kernel = function.kernel,
                      .inlined = function.inlined});
  }
  return frames;
}

}  // namespace memtrace
