// Format files saved from real kernels, and raw samples made by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_dir.h"
#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {

// Lays out the events folder of a kernel as its tracefs had it. tests/data/formats/KERNEL.txt holds
// the files one after the other, each behind a line "==> PATH".
class SavedTree {
 public:
  explicit SavedTree(const std::string& kernel) {
    std::ifstream all(std::string(TEST_SOURCE_DIR) + "/data/formats/" + kernel + ".txt");
    EXPECT_TRUE(all.good()) << kernel;
    std::ofstream file;
    for (std::string line; std::getline(all, line);) {
      constexpr std::string_view kMark = "==> ";
      if (line.starts_with(kMark)) {
        const std::filesystem::path path = folder_.file(line.substr(kMark.size()));
        std::filesystem::create_directories(path.parent_path());
        if (path.filename() == "format") {
          std::ofstream(path.parent_path().parent_path() / "enable");
        }
        file = std::ofstream(path);
      } else {
        file << line << '\n';
      }
    }
  }

  std::string path() const { return folder_.path(); }

 private:
  test::TempDir folder_;
};

// "6.1": laid out once and removed when the tests end.
inline TracepointFiles saved(const std::string& kernel) {
  static std::map<std::string, SavedTree> trees;
  return TracepointFiles(trees.try_emplace(kernel, kernel).first->second.path());
}

// The text of the format file.
inline std::string saved_text(const std::string& kernel, std::string_view event) {
  auto text = saved(kernel).event_format_text(event);
  EXPECT_TRUE(text.ok()) << event;
  return text.ok() ? text.take() : "";
}

// The format of "kmem:kmalloc" as kernel "6.1" has it.
inline EventFormat saved_format(const std::string& kernel, std::string_view event) {
  const auto text = saved(kernel).event_format_text(event);
  if (!text.ok()) {
    ADD_FAILURE() << describe(text.error());
    return {};
  }
  auto format = parse_format(text.value(), event.substr(0, event.find(':')));
  if (!format.ok()) {
    ADD_FAILURE() << describe(format.error());
    return {};
  }
  return format.take();
}

// Bytes of a sample, filled in field by field.
class RawBytes {
 public:
  explicit RawBytes(std::size_t size_bytes) : bytes_(size_bytes) {}

  template <typename T>
  RawBytes& put(std::size_t offset_bytes, T value) {
    std::memcpy(bytes_.data() + offset_bytes, &value, sizeof(T));
    return *this;
  }

  RawBytes& put_text(std::size_t offset_bytes, std::string_view text) {
    std::memcpy(bytes_.data() + offset_bytes, text.data(), text.size());
    return *this;
  }

  std::span<const std::byte> span() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// A __data_loc or __rel_loc word.
inline std::uint32_t location(std::uint32_t offset_bytes, std::uint32_t size_bytes) {
  return size_bytes << 16U | offset_bytes;
}

// kmem:kmalloc as Linux 2.6.32 and RHEL 6 write it: common_lock_depth moves every payload field,
// and nothing says "signed:".
inline constexpr std::string_view kOldKmalloc =
    "name: kmalloc\n"
    "ID: 47\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\n"
    "\tfield:int common_lock_depth;\toffset:8;\tsize:4;\n"
    "\n"
    "\tfield:unsigned long call_site;\toffset:16;\tsize:8;\n"
    "\tfield:const void * ptr;\toffset:24;\tsize:8;\n"
    "\tfield:size_t bytes_req;\toffset:32;\tsize:8;\n"
    "\tfield:size_t bytes_alloc;\toffset:40;\tsize:8;\n"
    "\tfield:gfp_t gfp_flags;\toffset:48;\tsize:4;\n"
    "\n"
    "print fmt: \"call_site=%lx ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s\", "
    "REC->call_site, REC->ptr, REC->bytes_req, REC->bytes_alloc, (REC->gfp_flags) ? "
    "__print_flags(REC->gfp_flags, \"|\", {(unsigned long)(((( gfp_t)0x10u) | (( gfp_t)0x40u) | "
    "(( gfp_t)0x80u))), \"GFP_KERNEL\"}, {(unsigned long)(( gfp_t)0x8000u), \"GFP_ZERO\"} ) : "
    "\"GFP_NOWAIT\"\n";

}  // namespace memtrace
