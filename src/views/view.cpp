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

Result<std::unique_ptr<View>> make_view(const ViewSpec& spec, const ViewOptions& options) {
  ViewOptions with_default = options;
  if (with_default.by.empty()) {
    with_default.by.assign(spec.default_by.begin(), spec.default_by.end());
  }
  return spec.make(with_default);
}

}  // namespace memtrace
