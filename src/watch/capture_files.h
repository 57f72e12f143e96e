// Files that memtrace watch writes: their names, and which of them are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

class CaptureFiles {
 public:
  // `output`: a folder, or the first part of a path. At most `keep` files of that name are kept; 0:
  // all.
  CaptureFiles(const std::string& output, std::uint64_t keep);

  // "DIR/memtrace-watch-20261123-140359-oom.data": a name that is free.
  std::string next_name(std::uint64_t wall_ns, const std::string& label) const;

  // While it is written, a file has another name.
  static std::string unfinished(const std::string& name) { return name + ".part"; }

  // The file is on the disk as a whole, or is not there. Error: what failed.
  static Result<> publish(const std::string& name);

  // Removes the oldest files until `keep` are left; returns their names.
  std::vector<std::string> remove_old() const;

  // Own files, the oldest first: regular files of this user with a name as next_name() makes it
  // that begin as recordings do.
  std::vector<std::string> all() const;

  const std::string& prefix() const { return prefix_; }

 private:
  std::string prefix_;  // "DIR/memtrace-watch"
  std::uint64_t keep_;
};

// Whether this is what follows the prefix: "-20261123-140359-swap-in.data".
bool is_capture_suffix(std::string_view text);

}  // namespace memtrace
