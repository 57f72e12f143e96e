// Formats of this machine's kernel, for files that have lost their own: perf writes them at the
// very end, so a file that is cut has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace memtrace {

struct LocalFormat {
  std::string name;  // "kmem:kmalloc"
  std::string text;
};

class LocalFormats {
 public:
  // The event with this id here and now; null without one, or when this user may not see them. Ids
  // differ between kernels: a caller must say so. All are read when the first is asked for.
  const LocalFormat* find(std::uint64_t id);

 private:
  void read();

  std::optional<std::unordered_map<std::uint64_t, LocalFormat>> by_id_;
};

}  // namespace memtrace
