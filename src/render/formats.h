// The makers of the text format; all/all_renderers.cpp has the table of all formats.
#pragma once

#include <memory>

#include "render/line_renderer.h"
#include "render/renderer.h"

namespace memtrace {

std::unique_ptr<Renderer> make_text_renderer(const RenderOptions& options);

std::unique_ptr<LineRenderer> make_text_lines(const LineOptions& options);

}  // namespace memtrace
