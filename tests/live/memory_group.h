// A memory cgroup of a test's own and a swap file of its own: both are gone when the test ends,
// however it ends.
#pragma once

#include <gtest/gtest.h>
#include <sys/swap.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include "support/run_command.h"

namespace memtrace::test {

// "name value" lines of a file of /proc or of a cgroup.
inline std::map<std::string, std::uint64_t> figures_in(const std::string& path) {
  std::map<std::string, std::uint64_t> figures;
  std::ifstream file(path);
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    figures[name] = value;
  }
  return figures;
}

inline bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

// cgroup v1 where its memory controller is mounted, else v2.
class MemoryGroup {
 public:
  // Puts a script that enters the group into `folder`.
  MemoryGroup(const std::string& folder, std::uint64_t limit_bytes)
      : script_(folder + "/enter.sh") {
    const bool has_v1 = std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    const std::string root = has_v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
    is_v1_ = has_v1;
    std::error_code error;
    const std::string path = root + "/memtrace_test_" + std::to_string(::getpid());
    if (std::filesystem::create_directory(path, error)) {
      path_ = path;
    }
    write_file(script_, "echo $$ > " + path_ + "/cgroup.procs && exec \"$@\"");
    usable_ = !path_.empty() && set_limit(limit_bytes);
  }

  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // A dead task leaves its group only when it has been reaped.
  ~MemoryGroup() {
    std::error_code error;
    for (int tries = 0; !path_.empty() && tries < 500; ++tries) {
      if (std::filesystem::remove(path_, error)) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  bool usable() const { return usable_; }

  bool set_limit(std::uint64_t bytes) const {
    const std::string file = is_v1_ ? "/memory.limit_in_bytes" : "/memory.max";
    return write_file(path_ + file, std::to_string(bytes));
  }

  // Others may have swap on at the same time.
  void forbid_swap() const {
    if (is_v1_) {
      write_file(path_ + "/memory.swappiness", "0");
      write_file(path_ + "/memory.memsw.limit_in_bytes", text_of(path_ + "/memory.limit_in_bytes"));
    } else {
      write_file(path_ + "/memory.swap.max", "0");
    }
  }

  const std::string& path() const { return path_; }

  // Shell words in front of a command, to run it in the group.
  std::string enter() const { return "sh " + script_ + " "; }

  // Kills by the kernel in this group.
  std::uint64_t kills() const {
    return figures_in(path_ + (is_v1_ ? "/memory.oom_control" : "/memory.events"))["oom_kill"];
  }

  // A shell command that has the kernel take back what the group can do without.
  std::string empty_command() const {
    return is_v1_ ? "echo 0 > " + path_ + "/memory.force_empty"
                  : "echo 64M > " + path_ + "/memory.reclaim || true";
  }

 private:
  std::string script_;
  std::string path_;
  bool usable_ = false;
  bool is_v1_ = true;
};

class SwapFile {
 public:
  SwapFile(const std::string& path, unsigned mebibytes) : path_(path) {
    const std::string size = std::to_string(mebibytes);
    const auto made = run_script("dd if=/dev/zero of=" + path + " bs=1M count=" + size +
                                     " status=none && chmod 600 " + path + " && mkswap " + path,
                                 std::filesystem::temp_directory_path(),
                                 {});
    usable_ = made.status == 0 && ::swapon(path.c_str(), 0) == 0;
  }

  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  ~SwapFile() {
    if (usable_) {
      ::swapoff(path_.c_str());
    }
    std::error_code error;
    std::filesystem::remove(path_, error);
  }

  bool usable() const { return usable_; }

 private:
  std::string path_;
  bool usable_ = false;
};

// A file of /proc/sys that has its old value again in the end.
class Setting {
 public:
  explicit Setting(const std::string& path) : path_(path), old_(text_of(path)) {}

  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  ~Setting() { write_file(path_, old_); }

  void set(std::uint64_t value) const { write_file(path_, std::to_string(value)); }

 private:
  std::string path_;
  std::string old_;
};

}  // namespace memtrace::test
