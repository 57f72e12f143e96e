// Rust's mangling since RFC 2603, which rustc 1.95 uses by default: "_RNvCs1234_5crate4main".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

// Without crate hashes and lifetimes; nothing for what is not a name of this kind.
std::optional<std::string> demangle_rust_v0(std::string_view mangled);

}  // namespace memtrace
