// The finished files of a recording, of which only the newest are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "perf/file_out/output_file.h"

namespace memtrace {

class KeptFiles {
 public:
  // At most `count` files together with the one that is written; 0: all.
  explicit KeptFiles(std::uint64_t count) : count_(count) {}

  // A file is finished. Nothing: memtrace has not made it, and never removes it.
  void add(std::optional<CreatedFile> file);

  // Removes the oldest ones until there is room for `more` files.
  void make_room(std::uint64_t more);

  std::uint64_t removed() const { return removed_; }

 private:
  std::uint64_t count_;
  std::uint64_t removed_ = 0;
  std::deque<std::optional<CreatedFile>> files_;
};

}  // namespace memtrace
