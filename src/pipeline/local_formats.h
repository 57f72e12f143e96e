// Formats of this machine's kernel, for files that have lost their own: perf writes them at the
// very end, so a file that is cut has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

struct LocalFormat {
  std::string name;  // "kmem:kmalloc"
  std::string text;
};

// The event with this id here and now. Ids differ between kernels: whoever uses it must say so.
std::optional<LocalFormat> find_local_format(std::uint64_t id);

}  // namespace memtrace
