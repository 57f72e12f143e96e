// A folder that is gone when the test ends.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

namespace memtrace::test {

// Unique by pid and by a count within the process. World-readable: tests start programs as nobody.
class TempDir {
 public:
  TempDir() {
    static std::atomic<int> made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("memtrace-test-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
    std::filesystem::create_directories(path_);
    std::filesystem::permissions(path_, std::filesystem::perms{0755});
  }

  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  ~TempDir() {
    std::error_code ignored;  // a file that cannot be removed must not hide what the test found
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace memtrace::test
