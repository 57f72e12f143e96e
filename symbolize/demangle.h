// Names as linkers know them to names as people write them.
#pragma once

#include <string>

namespace memtrace {

// C++ (Itanium) and Rust's legacy mangling, without Rust's hash; any other name as it is.
std::string demangle(const std::string& name);

}  // namespace memtrace
