#include "cli/output/replaced_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/unique_fd.h"

namespace memtrace {
namespace {

Result<> write_whole(const UniqueFd& file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return Error{"write(" + path + ")", errno, ""};
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return kDone;
}

// Synced before it is renamed: some file systems report a full disk only then.
Result<> write_new(const std::string& path, std::string_view text) {
  constexpr mode_t kMode = 0666;  // less what umask(2) takes away
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!file.valid()) {
    return Error{"open(" + path + ")", errno, "give a file in a folder that can be written to"};
  }
  TRY(write_whole(file, path, text));
  if (::fsync(file.get()) != 0) {
    return Error{"fsync(" + path + ")", errno, ""};
  }
  return kDone;
}

bool is_regular_or_new(const std::string& path) {
  struct stat status {};

  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// Links and pipes that others leave in /tmp lead where the kernel lets only root write (proc(5),
// protected_symlinks and protected_fifos, are off on many machines).
bool is_of_another_user(const std::string& path) {
  struct stat status {};

  return ::lstat(path.c_str(), &status) == 0 && status.st_uid != 0 && status.st_uid != ::geteuid();
}

}  // namespace

Result<> replace_file(const std::string& path, std::string_view text) {
  if (is_of_another_user(path)) {
    return Error{path + " belongs to another user",
                 0,
                 "give a name that nothing has, or remove it first",
                 ErrorKind::Usage};
  }
  if (!is_regular_or_new(path)) {
    const UniqueFd stream(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    return stream.valid() ? write_whole(stream, path, text)
                          : Result<>(Error{"open(" + path + ")", errno, ""});
  }
  const std::string beside = path + ".new-" + std::to_string(::getpid());
  const auto written = write_new(beside, text);
  if (written.ok() && ::rename(beside.c_str(), path.c_str()) == 0) {
    return kDone;
  }
  const int error = errno;
  // A file of that name that was there before is not ours.
  if (written.ok() || written.error().errno_value != EEXIST) {
    ::unlink(beside.c_str());
  }
  return written.ok() ? Error{"rename(" + beside + ", " + path + ")", error, ""} : written.error();
}

}  // namespace memtrace
