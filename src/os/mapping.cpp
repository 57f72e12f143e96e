#include "os/mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace memtrace {

Result<Mapping> Mapping::map(const Request& request) {
  void* start = ::mmap(
      nullptr, request.size_bytes, request.prot, request.flags, request.fd, request.file_offset);
  if (start == MAP_FAILED) {
    return Error{"mmap", errno, ""};
  }
  return Mapping({static_cast<std::byte*>(start), request.size_bytes});
}

Mapping::Mapping(Mapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::span<std::byte>())) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) {
    ::munmap(bytes_.data(), bytes_.size());
  }
}

bool has_room_for(std::size_t size_bytes) {
  return Mapping::map({.size_bytes = size_bytes,
                       .prot = PROT_READ | PROT_WRITE,
                       .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE})
      .ok();
}

}  // namespace memtrace
