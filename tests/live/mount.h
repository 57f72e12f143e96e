// Mounts a file system for a test.
#pragma once

#include <filesystem>
#include <string>

#include "live/live_test.h"

namespace memtrace::test {

// The file system is unmounted when the object is destroyed.
class Mount {
 public:
  // Creates the folder, runs the script `make`, and mounts on the folder. `words` are the arguments
  // of mount(8): the type, options, and the device or image.
  Mount(const std::string& folder, const std::string& make, const std::string& words)
      : folder_(folder) {
    std::filesystem::create_directory(folder);
    const auto made = run_script(make + " && mount " + words + " " + folder, folder + "/..", {});
    usable_ = made.status == 0;
    error_ = made.err;
  }

  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  ~Mount() {
    if (usable_) {
      run_script("umount " + folder_, std::filesystem::temp_directory_path(), {});
    }
  }

  bool usable() const { return usable_; }

  // What the script or mount(8) said when it failed.
  const std::string& error() const { return error_; }

 private:
  std::string folder_;
  std::string error_;
  bool usable_ = false;
};

}  // namespace memtrace::test
