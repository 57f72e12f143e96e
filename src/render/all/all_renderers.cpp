#include "render/all/all_renderers.h"

#include <algorithm>
#include <array>

#include "render/data/data_formats.h"
#include "render/formats.h"
#include "render/html/html_format.h"
#include "render/profile/profile_formats.h"

namespace memtrace {
namespace {

constexpr auto kRenderers = std::to_array<NamedRenderer>({
    {.name = "text", .make = &make_text_renderer, .make_lines = &make_text_lines},
    {.name = "json", .make = &make_json_renderer, .make_lines = &make_json_lines},
    {.name = "csv", .make = &make_csv_renderer, .make_lines = &make_csv_lines},
    {.name = "ndjson",
     .make = &make_ndjson_renderer,
     .wants_all_rows = true,
     .wants_all_views = true},
    {.name = "openmetrics", .make = &make_openmetrics_renderer, .wants_all_views = true},
    {.name = "folded",
     .make = &make_folded_renderer,
     .wants_all_rows = true,
     .wants_all_views = true,
     .draws_stacks = true},
    {.name = "html",
     .make = &make_html_renderer,
     .wants_all_rows = true,
     .wants_all_views = true,
     .draws_stacks = true,
     .wants_timeline = true},
    {.name = "svg",
     .make = &make_svg_renderer,
     .wants_all_rows = true,
     .draws_stacks = true,
     .needs_view = true},
    {.name = "pprof",
     .make = &make_pprof_renderer,
     .wants_all_rows = true,
     .draws_stacks = true,
     .wants_processes = true,
     .needs_view = true,
     .is_binary = true},
    {.name = "speedscope",
     .make = &make_speedscope_renderer,
     .wants_all_rows = true,
     .wants_all_views = true,
     .draws_stacks = true},
    {.name = "firefox",
     .make = &make_firefox_renderer,
     .wants_all_rows = true,
     .draws_stacks = true,
     .needs_view = true},
    {.name = "massif",
     .make = &make_massif_renderer,
     .wants_all_rows = true,
     .needs_view = true,
     .only_of_view = "heap"},
    {.name = "heaptrack",
     .make = &make_heaptrack_renderer,
     .wants_all_rows = true,
     .needs_view = true,
     .only_of_view = "heap"},
});

}  // namespace

std::span<const NamedRenderer> all_renderers() {
  return kRenderers;
}

const NamedRenderer* find_renderer(std::string_view name) {
  const auto* const found = std::ranges::find(kRenderers, name, &NamedRenderer::name);
  return found == kRenderers.end() ? nullptr : found;
}

std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options) {
  const NamedRenderer* renderer = find_renderer(name);
  return renderer == nullptr ? nullptr : renderer->make(options);
}

std::unique_ptr<LineRenderer> make_line_renderer(std::string_view format,
                                                 const LineOptions& options) {
  const NamedRenderer* renderer = find_renderer(format);
  const bool has_lines = renderer != nullptr && renderer->make_lines != nullptr;
  return has_lines ? renderer->make_lines(options) : nullptr;
}

std::string format_names() {
  std::string names;
  for (const NamedRenderer& renderer : kRenderers) {
    names += names.empty() ? "" : ", ";
    names += renderer.name;
  }
  return names;
}

}  // namespace memtrace
