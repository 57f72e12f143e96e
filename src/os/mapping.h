// The one owner of memory mappings: the only munmap(2) in the tree. What os/foreign_file.cpp maps
// lies in such memory.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace memtrace {

class Mapping {
 public:
  struct Request {
    int fd = -1;
    std::size_t size_bytes = 0;
    int prot = 0;   // PROT_*
    int flags = 0;  // MAP_*
    off_t file_offset = 0;
  };

  // Error: errno of mmap(2), message "mmap".
  static Result<Mapping> map(const Request& request);

  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::span<std::byte> bytes() const { return bytes_; }

  bool valid() const { return !bytes_.empty(); }

 private:
  explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

// Whether this many bytes can be mapped now, within the limit of the address space. For libraries
// that end the program when they get no memory.
bool has_room_for(std::size_t size_bytes);

}  // namespace memtrace
