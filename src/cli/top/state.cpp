#include "cli/top/state.h"

#include <algorithm>

#include "base/text.h"

namespace memtrace {

PaneView view_of(const TopState& state, std::size_t pane) {
  const PaneState& own = state.panes[pane];
  PaneView view{.look = &state.look_of(pane),
                .live = state.live,
                .only = state.filter.pattern ? &*state.filter.pattern : nullptr,
                .first_row = own.first_row};
  const bool shows_live = view.live && !view.look->live.empty();
  view.sort = shows_live ? own.live_sort : own.rates_sort;
  if (view.sort.empty()) {
    view.sort = shows_live ? view.look->live_sort : view.look->rates_sort;
  }
  return view;
}

Result<> sort_by(TopState& state, const std::string& column) {
  const PaneView view = view_of(state, state.pane);
  std::vector<std::string> names;
  for (const PaneColumn& shown : columns_of(view)) {
    if (shown.name == column || shown.header == column) {
      const bool shows_live = view.live && !view.look->live.empty();
      PaneState& own = state.current();
      (shows_live ? own.live_sort : own.rates_sort) = shown.name;
      return kDone;
    }
    names.emplace_back(shown.name);
  }
  return Error{"--sort " + column + ": there is no such column",
               0,
               "columns of this pane: " + join(names, ", "),
               ErrorKind::Usage};
}

}  // namespace memtrace
