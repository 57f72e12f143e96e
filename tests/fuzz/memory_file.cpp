#include "fuzz/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace memtrace::fuzz {
namespace {

constexpr std::size_t kPipeBytes = std::size_t{1} << 20U;

// The targets cannot work without; it is no finding.
void expect(bool is_done, const char* what) {
  if (!is_done) {
    std::perror(what);
    std::_Exit(2);
  }
}

void write_all(const UniqueFd& fd, Input content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    expect(written > 0, "fuzz: write");
    content = content.subspan(static_cast<std::size_t>(written));
  }
}

std::string path_of(const UniqueFd& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

}  // namespace

MemoryFile::MemoryFile(Input content) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
  expect(fd_.valid(), "fuzz: memfd_create");
  write_all(fd_, content);
  path_ = path_of(fd_);
}

FullPipe::FullPipe(Input content) {
  std::array<int, 2> ends{};
  expect(::pipe2(ends.data(), O_CLOEXEC) == 0, "fuzz: pipe2");
  fd_ = UniqueFd(ends[0]);
  const UniqueFd writer(ends[1]);
  expect(::fcntl(writer.get(), F_SETPIPE_SZ, kPipeBytes) > 0, "fuzz: fcntl(F_SETPIPE_SZ)");
  write_all(writer, content.first(std::min(content.size(), kPipeBytes)));
  path_ = path_of(fd_);
}

}  // namespace memtrace::fuzz
