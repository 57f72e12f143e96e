// A regular file that is in memory alone, for readers that want a path.
#pragma once

#include <string>

#include "fuzz/fuzz_target.h"
#include "os/unique_fd.h"

namespace memtrace::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(Input content);

  // "/proc/self/fd/5".
  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

// The end of a pipe that has the content in it and then ends; as much as a pipe can hold, which is
// 1 MB.
class FullPipe {
 public:
  explicit FullPipe(Input content);

  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

}  // namespace memtrace::fuzz
