// The maker of the HTML format; all_renderers.cpp has the table of all formats.
#pragma once

#include <memory>

#include "render/renderer.h"

namespace memtrace {

std::unique_ptr<Renderer> make_html_renderer(const RenderOptions& options);

}  // namespace memtrace
