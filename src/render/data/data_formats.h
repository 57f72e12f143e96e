// One maker for each format of tables for programs; all_renderers.cpp has the table of all formats.
#pragma once

#include <memory>

#include "render/line_renderer.h"
#include "render/renderer.h"

namespace memtrace {

std::unique_ptr<Renderer> make_json_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_csv_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_ndjson_renderer(const RenderOptions& options);
std::unique_ptr<Renderer> make_openmetrics_renderer(const RenderOptions& options);

std::unique_ptr<LineRenderer> make_json_lines(const LineOptions& options);
std::unique_ptr<LineRenderer> make_csv_lines(const LineOptions& options);

}  // namespace memtrace
