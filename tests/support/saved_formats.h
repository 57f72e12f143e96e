// Format files saved from real kernels, and raw samples made by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {

inline TracepointFiles saved(const std::string& kernel) {
  return TracepointFiles(std::string(TEST_SOURCE_DIR) + "/data/formats/" + kernel);
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
