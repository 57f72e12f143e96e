// Spine 8: a report to bytes. One method; the table of formats is the only list of renderers.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "render/line_renderer.h"
#include "report/report.h"

namespace memtrace {

class Renderer {
 public:
  Renderer() = default;
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  Renderer(Renderer&&) = delete;
  Renderer& operator=(Renderer&&) = delete;
  virtual ~Renderer() = default;

  virtual void render(const Report& report, std::ostream& out) const = 0;
};

struct RenderOptions {
  std::size_t columns = 100;   // width of the text format
  bool one_line = false;       // JSON: one object a line, for interval mode
  std::string_view version{};  // of memtrace, for JSON
};

struct NamedRenderer {
  std::string_view name;  // "text", "json", "csv", "folded"
  std::unique_ptr<Renderer> (*make)(const RenderOptions&);
  std::unique_ptr<LineRenderer> (*make_lines)(const LineOptions&);  // null: it has no lines
};

std::span<const NamedRenderer> all_renderers();

// nullptr for an unknown name.
std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options);

}  // namespace memtrace
