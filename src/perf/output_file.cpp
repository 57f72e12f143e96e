#include "perf/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace memtrace {
namespace {

// perf does the same, so that a second recording does not wipe the first.
bool keep_old_file(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
         std::rename(path.c_str(), (path + ".old").c_str()) == 0;
}

// Under sudo the recording belongs to the user behind it, who will want to read it.
void give_to_caller(const UniqueFd& fd) {
  const char* uid = std::getenv("SUDO_UID");
  const char* gid = std::getenv("SUDO_GID");
  if (::geteuid() == 0 && uid != nullptr && gid != nullptr) {
    const auto user = parse_number(uid);
    const auto group = parse_number(gid);
    if (user && group) {
      // Failing leaves it root's, as it would be without sudo.
      (void)!::fchown(fd.get(), static_cast<uid_t>(*user), static_cast<gid_t>(*group));
    }
  }
}

}  // namespace

Result<OutputFile> create_output_file(const std::string& path) {
  const bool replaced_old = keep_old_file(path);
  constexpr int kOwnerOnly = 0600;  // it holds addresses of the kernel and other users' programs
  UniqueFd fd(::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, kOwnerOnly));
  if (!fd.valid()) {
    return Error{"open(" + path + ")", errno, "give a place that can be written to with -o FILE"};
  }
  give_to_caller(fd);
  return OutputFile{std::move(fd), replaced_old};
}

}  // namespace memtrace
