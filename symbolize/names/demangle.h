// Names as linkers know them to names as people write them.
#pragma once

#include <string>

namespace memtrace {

// C++ (Itanium) and Rust, without Rust's hashes; any other name as it is.
std::string demangle(const std::string& name);

}  // namespace memtrace
