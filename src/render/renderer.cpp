#include "render/renderer.h"

#include <array>

#include "render/formats.h"

namespace memtrace {
namespace {

constexpr auto kRenderers = std::to_array<NamedRenderer>({
    {"text", &make_text_renderer, &make_text_lines},
    {"json", &make_json_renderer, &make_json_lines},
    {"csv", &make_csv_renderer, &make_csv_lines},
    {"folded", &make_folded_renderer, nullptr},
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

std::unique_ptr<LineRenderer> make_line_renderer(std::string_view format,
                                                 const LineOptions& options) {
  for (const NamedRenderer& renderer : kRenderers) {
    if (renderer.name == format && renderer.make_lines != nullptr) {
      return renderer.make_lines(options);
    }
  }
  return nullptr;
}

}  // namespace memtrace
