#include "views/view.h"

#include <algorithm>

#include "base/text.h"

namespace memtrace {

bool handles(const ViewSpec& spec, const EventType& type) {
  if (spec.handles != nullptr) {
    return spec.handles(type);
  }
  return std::ranges::any_of(spec.needs, [&type](std::string_view need) {
    const auto alternatives = split(need, '|');
    return !type.name.empty() && std::ranges::find(alternatives, type.name) != alternatives.end();
  });
}

bool has_stack_key(const ViewSpec& spec, const std::vector<std::string>& by) {
  // The caller is a field of the slab allocator's events; other events have it only in their stack.
  const bool has_caller = !spec.needs.empty() && spec.needs.front().starts_with("kmem:km");
  const auto is_stack_key = [has_caller](std::string_view key) {
    return key == "stack" || key == "origin" || (!has_caller && key == "caller");
  };
  if (!by.empty()) {
    return std::ranges::any_of(by, is_stack_key);
  }
  const auto first_key = spec.keys.first(std::min<std::size_t>(1, spec.keys.size()));
  return std::ranges::any_of(spec.default_by.empty() ? first_key : spec.default_by, is_stack_key);
}

bool shows_stacks(const ViewSpec& spec, const ViewOptions& options) {
  return options.wants_lines() ? options.asks_for("stack")
                               : spec.always_shows_stacks || has_stack_key(spec, options.by);
}

bool needs_stacks(const ViewSpec& spec, const ViewOptions& options) {
  return !spec.looks_at_stack_keys_only || has_stack_key(spec, options.by) || options.wants_lines();
}

Result<std::unique_ptr<View>> make_view(const ViewSpec& spec, const ViewOptions& options) {
  ViewOptions with_default = options;
  if (with_default.by.empty()) {
    with_default.by.assign(spec.default_by.begin(), spec.default_by.end());
  }
  return spec.make(with_default);
}

}  // namespace memtrace
