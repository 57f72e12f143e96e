// The table of formats: the only list of renderers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "render/line_renderer.h"
#include "render/renderer.h"

namespace memtrace {

struct NamedRenderer {
  std::string_view name;  // "text", "json", "pprof"
  std::unique_ptr<Renderer> (*make)(const RenderOptions&) = nullptr;
  std::unique_ptr<LineRenderer> (*make_lines)(const LineOptions&) = nullptr;  // null: has no lines
  bool wants_all_rows = false;      // not the first ones, unless --top says so
  bool wants_all_views = false;     // without a view it shows all of them, and no findings
  bool draws_stacks = false;        // whole ones: a view's default key may be a part of them
  bool wants_processes = false;     // it has a place for whose stacks are whose
  bool needs_view = false;          // it has no place for several
  bool is_binary = false;           // nothing for a terminal
  bool wants_timeline = false;      // Report::timeline
  std::string_view only_of_view{};  // "": any
};

std::span<const NamedRenderer> all_renderers();

// nullptr for an unknown name.
const NamedRenderer* find_renderer(std::string_view name);

std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options);

// nullptr for a format that has no lines, such as folded stacks.
std::unique_ptr<LineRenderer> make_line_renderer(std::string_view format,
                                                 const LineOptions& options);

// "text, json, csv", for messages and help.
std::string format_names();

}  // namespace memtrace
