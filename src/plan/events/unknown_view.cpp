#include "base/text.h"
#include "plan/events/event_selection.h"
#include "views/all/all_views.h"

namespace memtrace {

Error unknown_view(const std::string& name, std::span<const std::string> more_names) {
  std::vector<std::string> names;
  for (const NamedView& view : all_views()) {
    names.emplace_back(view.name);
  }
  names.insert(names.end(), more_names.begin(), more_names.end());
  const auto near = nearest(name, names);
  return {
      "unknown view '" + name + "'",
      0,
      near.empty() ? "views are: " + join(names, ", ") : "did you mean " + join(near, " or ") + "?",
      ErrorKind::Usage};
}

}  // namespace memtrace
