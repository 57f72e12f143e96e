// Names that people know from other tools, and the views that they stand for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/option_table.h"
#include "views/view.h"

namespace memtrace {

struct Alias {
  std::string_view name;
  std::string_view view;
  std::string_view option;  // "by", which has this value unless the user gives it another; or ""
  std::string_view value;   // "" of a flag
};

std::span<const Alias> all_aliases();

// nullptr when there is none of that name.
const Alias* find_alias(std::string_view name);

// By its own name or by an alias; nullptr when there is none.
const NamedView* find_view_or_alias(std::string_view name);

// The arguments with the alias's option in front, unless the user has given it. Arguments that
// cannot be parsed stay as they are: whoever parses them next says why.
std::vector<std::string> with_alias_option(const Alias& alias,
                                           std::span<const Option> known,
                                           const std::vector<std::string>& arguments);

// Usage: "unknown view", with the nearest views and aliases.
Error unknown_view_or_alias(const std::string& name);

}  // namespace memtrace
