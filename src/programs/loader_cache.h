// /etc/ld.so.cache: where ldconfig(8) found libraries by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/foreign_file.h"

namespace memtrace {

class LoaderCache {
 public:
  // An empty one when there is none at this path, or in another format.
  static LoaderCache open(const std::string& path);

  // All that have this name, for any machine; those for special processors last.
  std::vector<std::string> find(std::string_view name) const;

 private:
  std::string_view text_at(std::uint64_t offset) const;

  ForeignBytes file_;
  std::span<const std::byte> bytes_;  // from the header that names count from
};

}  // namespace memtrace
