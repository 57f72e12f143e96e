// Keys that every view has that has pid: whose process it was.
#pragma once

#include <span>
#include <string_view>

#include "views/kit/keys.h"

namespace memtrace {

// user, uid, cgroup, container and unit; exe, command and ppid.
std::span<const KeySpec> identity_keys();

// Whether a view that names these keys takes this one.
bool takes_key(std::span<const std::string_view> names, std::string_view name);

}  // namespace memtrace
