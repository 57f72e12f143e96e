#include "render/renderer.h"

#include <array>

#include "render/formats.h"

namespace memtrace {
namespace {

constexpr auto kRenderers = std::to_array<NamedRenderer>({
    {"text", &make_text_renderer},
    {"json", &make_json_renderer},
    {"csv", &make_csv_renderer},
    {"folded", &make_folded_renderer},
});

}  // namespace

std::span<const NamedRenderer> all_renderers() {
  return kRenderers;
}

std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options) {
  for (const NamedRenderer& renderer : kRenderers) {
    if (renderer.name == name) {
      return renderer.make(options);
    }
  }
  return nullptr;
}

}  // namespace memtrace
