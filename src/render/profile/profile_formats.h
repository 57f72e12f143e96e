// One maker for each format of weighted stacks; all_renderers.cpp has the table of them.
#pragma once

#include <memory>

#include "render/renderer.h"

namespace memtrace {

std::unique_ptr<Renderer> make_folded_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_pprof_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_speedscope_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_firefox_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_svg_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_massif_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_heaptrack_renderer(const RenderOptions& options);

}  // namespace memtrace
