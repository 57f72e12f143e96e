// What tests of large folios change on the machine, and put back.
#pragma once

#include <sys/swap.h>

#include <string>

#include "live/memory_group.h"

namespace memtrace::test {

// What the kernel has of folios of a size, in KiB.
inline std::string folio_folder(int kilobytes) {
  return "/sys/kernel/mm/transparent_hugepage/hugepages-" + std::to_string(kilobytes) + "kB";
}

// Whether a process gets folios of a size: a file like /sys/kernel/mm/transparent_hugepage/enabled,
// which has all choices and the one that is taken in brackets. Put back at the end.
class FolioSetting {
 public:
  explicit FolioSetting(const std::string& path) : path_(path) {
    const std::string choices = text_of(path);
    const std::size_t open = choices.find('[');
    const std::size_t close = choices.find(']');
    if (close != std::string::npos && open < close) {
      old_ = choices.substr(open + 1, close - open - 1);
    }
  }

  FolioSetting(const FolioSetting&) = delete;
  FolioSetting& operator=(const FolioSetting&) = delete;

  ~FolioSetting() {
    if (is_there()) {
      write_file(path_, old_);
    }
  }

  bool is_there() const { return !old_.empty(); }

  void set(const std::string& choice) const { write_file(path_, choice); }

 private:
  std::string path_;
  std::string old_;
};

// Swap on a disk that does not rotate, a loop device: on one that does, the kernel splits each
// large folio first (mm/swapfile.c).
class SwapDisk {
 public:
  SwapDisk(const std::string& path, unsigned mebibytes) : path_(path) {
    const std::string make = "dd if=/dev/zero of=" + path +
                             " bs=1M count=" + std::to_string(mebibytes) +
                             " status=none && losetup -f --show " + path;
    const auto made = run_script(make, std::filesystem::temp_directory_path(), {});
    device_ = made.status == 0 ? made.out.substr(0, made.out.find('\n')) : "";
    if (device_.starts_with("/dev/")) {
      write_file("/sys/block/" + device_.substr(5) + "/queue/rotational", "0");
      const auto formatted =
          run_script("mkswap " + device_, std::filesystem::temp_directory_path(), {});
      usable_ = formatted.status == 0 && ::swapon(device_.c_str(), 0) == 0;
    }
  }

  SwapDisk(const SwapDisk&) = delete;
  SwapDisk& operator=(const SwapDisk&) = delete;

  ~SwapDisk() {
    if (usable_) {
      ::swapoff(device_.c_str());
    }
    if (!device_.empty()) {
      run_script("losetup -d " + device_, std::filesystem::temp_directory_path(), {});
    }
    std::error_code error;
    std::filesystem::remove(path_, error);
  }

  bool usable() const { return usable_; }

 private:
  std::string path_;
  std::string device_;
  bool usable_ = false;
};

}  // namespace memtrace::test
