#include "os/ready_notice.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace memtrace {
namespace {

constexpr const char* kVariable = "MEMTRACE_READY_FD";
constexpr std::string_view kLine = "recording\n";

}  // namespace

Result<ReadyNotice> ReadyNotice::from_environment() {
  const char* value = std::getenv(kVariable);
  if (value == nullptr) {
    return ReadyNotice();
  }
  const std::string text = value;
  ::unsetenv(kVariable);
  int fd = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), fd);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  // Not what memtrace itself prints to.
  if (!is_number || fd <= STDERR_FILENO || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return Error{std::string(kVariable) + "=" + text,
                 0,
                 "it names an open descriptor from 3 on: MEMTRACE_READY_FD=9 memtrace record ... "
                 "9>FILE",
                 ErrorKind::Usage};
  }
  ReadyNotice notice;
  notice.fd_.reset(fd);
  return notice;
}

void ReadyNotice::tell() {
  if (!fd_.valid()) {
    return;
  }
  while (::write(fd_.get(), kLine.data(), kLine.size()) < 0 && errno == EINTR) {
  }
  fd_.reset();
}

}  // namespace memtrace
