// All views by name. CMake writes the table from the file names: NAME_view.cpp in one of the
// folders of views defines view_NAME.
#pragma once

#include <span>
#include <string_view>

#include "views/view.h"

namespace memtrace {

struct NamedView {
  std::string_view name;
  const ViewSpec& spec;
};

std::span<const NamedView> all_views();

// nullptr when there is none of that name.
const NamedView* find_view(std::string_view name);

}  // namespace memtrace
