// Spine 8: a report to bytes. One method; all/all_renderers.h has the table of formats.
#pragma once

#include <ostream>
#include <string_view>

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
  bool colours = false;        // of the text format
  bool one_line = false;       // JSON: one object a line, for interval mode
  bool host_columns = false;   // CSV: each line says which machine and time it is of
  std::string_view version{};  // of memtrace, for JSON
};

}  // namespace memtrace
