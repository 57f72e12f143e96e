// Layers of the kernel below a program's stack: "page fault > page allocation > direct reclaim" is
// three of them, outermost first. Formats with stacks show them as frames of their own, behind the
// innermost function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// The key column that holds them, and what is between two.
inline constexpr std::string_view kLayerColumn = "layer";
inline constexpr std::string_view kLayerSeparator = " > ";

// "[page fault]", "[page allocation]", "[direct reclaim]".
inline std::vector<std::string> layer_frames(std::string_view layers) {
  std::vector<std::string> frames;
  while (!layers.empty()) {
    const std::size_t end = layers.find(kLayerSeparator);
    frames.push_back("[" + std::string(layers.substr(0, end)) + "]");
    layers = end == std::string_view::npos ? "" : layers.substr(end + kLayerSeparator.size());
  }
  return frames;
}

}  // namespace memtrace
