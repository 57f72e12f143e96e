// Capabilities that decide what may be traced (capabilities(7)).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// Names of the capabilities that matter here, of CapEff in the text of /proc/PID/status.
std::vector<std::string> held_capabilities(std::string_view status);

// The same of this process.
std::vector<std::string> own_capabilities();

}  // namespace memtrace
