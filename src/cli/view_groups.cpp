#include "cli/view_groups.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/aliases.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

struct Group {
  std::string_view word;
  bool (*holds)(const ViewSpec& view);
};

constexpr auto kGroups = std::to_array<Group>({
    {"all", [](const ViewSpec&) { return true; }},
    {"kernel", [](const ViewSpec& view) { return !view.of_programs; }},
});

// These are of events and functions that the user names.
bool is_of_any_event(std::string_view view) {
  return view == "count" || view == "calls";
}

const Group* find_group(std::string_view word) {
  const auto* const found = std::ranges::find(kGroups, word, &Group::word);
  return found == kGroups.end() ? nullptr : &*found;
}

void add(const Group& group, std::vector<std::string>& names) {
  for (const NamedView& view : all_views()) {
    if (group.holds(view.spec) && !is_of_any_event(view.name)) {
      names.emplace_back(view.name);
    }
  }
}

}  // namespace

std::vector<std::string> ChosenViews::all() const {
  std::vector<std::string> names = named;
  names.insert(names.end(), if_possible.begin(), if_possible.end());
  return names;
}

Result<ChosenViews> choose_views(const std::vector<std::string>& words) {
  ChosenViews chosen;
  for (const std::string& word : words) {
    if (const Group* group = find_group(word)) {
      add(*group, chosen.if_possible);
      continue;
    }
    const NamedView* view = find_view_or_alias(word);
    if (view == nullptr) {
      return unknown_view_or_alias(word);
    }
    chosen.named.emplace_back(view->name);
  }
  return chosen;
}

}  // namespace memtrace
