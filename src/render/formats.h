// One maker for each format; renderer.cpp has the table of them.
#pragma once

#include <memory>

#include "render/renderer.h"

namespace memtrace {

std::unique_ptr<Renderer> make_text_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_json_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_csv_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_folded_renderer(const RenderOptions& options);

}  // namespace memtrace
