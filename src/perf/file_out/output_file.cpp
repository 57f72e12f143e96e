#include "perf/file_out/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/text.h"
#include "os/system.h"
#include "os/trust.h"

namespace memtrace {
namespace {

using Status = struct stat;

constexpr const char* kOtherPlace = "give another place with -o FILE";

// Under sudo the recording belongs to the user behind it, who will want to read it.
void give_to_caller(const UniqueFd& fd) {
  const auto user = sudo_user();
  const auto group = sudo_group();
  if (user && group) {
    // Failing leaves it root's, as it would be without sudo.
    (void)!::fchown(fd.get(), static_cast<uid_t>(*user), static_cast<gid_t>(*group));
  }
}

bool is_ours(const Status& status) {
  return status.st_uid == ::geteuid() || sudo_user() == std::uint64_t{status.st_uid};
}

// perf.data's first eight bytes (tools/perf/util/header.c), in both orders of bytes.
bool is_recording(const UniqueFd& fd) {
  std::array<char, 8> start{};
  const ssize_t count = ::pread(fd.get(), start.data(), start.size(), 0);
  const std::string_view text(start.data(), start.size());
  return count == static_cast<ssize_t>(start.size()) && (text == "PERFILE2" || text == "2ELIFREP");
}

// Error for a regular file, or one that the user may not even read.
bool holds_recording(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  return fd.valid() && is_recording(fd);
}

Error left_alone(const std::string& path, const std::string& why) {
  return Error{path + " " + why + ": memtrace leaves it as it is", 0, kOtherPlace};
}

// A FIFO or device that we have open already, such as /dev/stdout, which leads to a pipe that
// another user may have made.
bool is_open_here(const Status& wanted) {
  const auto names = list_directory("/proc/self/fd");
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    Status status{};
    const auto fd = parse_number(name);
    if (fd && ::fstat(static_cast<int>(*fd), &status) == 0 && status.st_dev == wanted.st_dev &&
        status.st_ino == wanted.st_ino) {
      return true;
    }
  }
  return false;
}

// Where a recording goes.
struct Place {
  std::string path;
  bool is_link = false;  // of /proc/PID/fd, to what has no path: "pipe:[1234]"
};

// Whether nobody else can make the link at `path` lead elsewhere.
bool is_link_kept(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.c_str(), nullptr),
                                                    &std::free);
  return real != nullptr && is_folder_of_ours(real.get());
}

// Where links lead. A link is followed only if who made it could have written the file as well, and
// never to make a file: links that others leave in /tmp lead where the kernel lets only root write
// (proc(5), protected_symlinks, is off on many machines).
Result<Place> behind_links(const std::string& path) {
  Status link{};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) {
    return Place{path};
  }
  if (link.st_uid != 0 && !is_ours(link)) {
    return left_alone(path, "is a symbolic link of another user");
  }
  Status target{};
  if (::stat(path.c_str(), &target) != 0) {
    return left_alone(path, "is a symbolic link that leads to no file");
  }
  if (!S_ISREG(target.st_mode) && !is_link_kept(path)) {
    return left_alone(path, "is a symbolic link in a folder that others may change");
  }
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real != nullptr && ::lstat(real.get(), &link) == 0) {
    return Place{real.get()};
  }
  return S_ISREG(target.st_mode)
             ? Result<Place>(Error{"realpath(" + path + ")", errno, kOtherPlace})
             : Result<Place>(Place{path, true});
}

bool is_private_empty(const Status& status) {
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  return S_ISREG(status.st_mode) && is_ours(status) && status.st_size == 0 &&
         status.st_nlink == 1 && (status.st_mode & kOthers) == 0;
}

// `place` is what `path` leads to.
Result<> may_be_replaced(const std::string& path, const std::string& place, const Status& status) {
  if (!S_ISREG(status.st_mode)) {
    return left_alone(path, "is not a file");
  }
  if (!is_ours(status)) {
    return left_alone(path, "belongs to another user");
  }
  if (status.st_size > 0 && !holds_recording(place)) {
    return left_alone(path, "is not a recording");
  }
  return kDone;
}

bool status_at(const std::string& path, bool follow, Status& status) {
  return (follow ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status)) == 0;
}

// `status`: of what stands there.
Result<> may_be_written(const std::string& path, bool is_link, const Status& status) {
  if (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)) {
    return left_alone(path, S_ISDIR(status.st_mode) ? "is a directory" : "is a disk");
  }
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) {
    return left_alone(path, "is not a file");
  }
  const bool is_own_fd = is_link && is_open_here(status);
  if (!is_trusted_user(status.st_uid) && !is_own_fd) {
    return left_alone(
        path,
        S_ISFIFO(status.st_mode) ? "is a pipe of another user" : "is a device of another user");
  }
  return kDone;
}

bool is_at(const Inode& inode, const std::string& path) {
  Status status{};
  return inode.number != 0 && ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_dev == inode.device && status.st_ino == inode.number;
}

// For writing. A pipe without a reader refuses (fifo(7)): who starts both at once need not start
// them in order. O_NONBLOCK also keeps a terminal's line from being waited for.
Result<UniqueFd> open_with_reader(const std::string& path,
                                  bool is_pipe,
                                  bool follow,
                                  StopSignals* stop_signals) {
  constexpr auto kLookAgain = std::chrono::milliseconds(20);
  const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  const auto open_once = [&] { return UniqueFd(::open(path.c_str(), flags)); };
  UniqueFd fd = open_once();
  while (!fd.valid() && errno == ENXIO && is_pipe) {
    if (stop_signals != nullptr && stop_signals->asked().count > 0) {
      return Error{path + ": nobody has opened this pipe for reading", 0, "start its reader first"};
    }
    std::this_thread::sleep_for(kLookAgain);
    fd = open_once();
  }
  return fd.valid() ? Result<UniqueFd>(std::move(fd))
                    : Error{"open(" + path + ")", errno, kOtherPlace};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, StopSignals* stop_signals) {
  auto place = behind_links(path);
  if (!place.ok()) {
    return place.take_error();
  }
  OutputFile file;
  file.path_ = path;
  file.place_ = place.value().path;
  const bool follow = place.value().is_link;
  Status status{};
  const bool is_there = status_at(file.place_, follow, status);
  if (is_there && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    TRY(file.open_stream(status, follow, stop_signals));
    return file;
  }
  TRY(file.make_room());
  auto created = file.create_file();
  if (!created.ok()) {
    file.put_old_back();
    return created.take_error();
  }
  return file;
}

// A file that took the place since it was examined is not written to.
Result<> OutputFile::open_stream(const Status& wanted, bool follow, StopSignals* stop_signals) {
  TRY(may_be_written(path_, follow, wanted));
  auto fd = open_with_reader(place_, S_ISFIFO(wanted.st_mode), follow, stop_signals);
  if (!fd.ok() && fd.error().errno_value != ELOOP) {
    return fd.take_error();
  }
  Status status{};
  if (!fd.ok() || ::fstat(fd.value().get(), &status) != 0 || status.st_dev != wanted.st_dev ||
      status.st_ino != wanted.st_ino) {
    return left_alone(path_, "was something else a moment ago");
  }
  fd_ = fd.take();
  const int modes = ::fcntl(fd_.get(), F_GETFL);
  (void)::fcntl(fd_.get(), F_SETFL, modes & ~O_NONBLOCK);  // writing is to wait as usual
  is_stream_ = true;
  return kDone;
}

// perf renames an old recording, too, so that a second one does not wipe the first.
Result<> OutputFile::make_room() {
  Status status{};
  if (::lstat(place_.c_str(), &status) != 0) {
    return kDone;  // open(2) will report what is wrong with the place
  }
  TRY(may_be_replaced(path_, place_, status));
  if (is_private_empty(status) && take_empty(status)) {
    return kDone;
  }
  const std::string old = place_ + ".old";
  Status old_status{};
  if (::lstat(old.c_str(), &old_status) == 0) {
    TRY(may_be_replaced(old, old, old_status));
    if (status.st_size == 0 && old_status.st_size > 0) {
      return left_alone(path_, "is empty, and " + old + " would be lost for it");
    }
  }
  if (std::rename(place_.c_str(), old.c_str()) != 0) {
    return Error{"rename(" + path_ + ", " + old + ")", errno, kOtherPlace};
  }
  replaced_ = {status.st_dev, status.st_ino};
  return kDone;
}

// As mktemp(1) makes them: nobody else can have opened it.
bool OutputFile::take_empty(const Status& wanted) {
  Status status{};
  fd_.reset(::open(place_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  was_there_ = fd_.valid() && ::fstat(fd_.get(), &status) == 0 && is_private_empty(status) &&
               status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino;
  if (!was_there_) {
    fd_.reset();
    return false;
  }
  made_ = {status.st_dev, status.st_ino};
  return true;
}

Result<> OutputFile::create_file() {
  if (was_there_) {
    return kDone;
  }
  constexpr int kOwnerOnly = 0600;  // it holds addresses of the kernel and other users' programs
  fd_.reset(::open(place_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kOwnerOnly));
  Status status{};
  if (!fd_.valid() || ::fstat(fd_.get(), &status) != 0) {
    return Error{"open(" + path_ + ")", errno, "give a place that can be written to with -o FILE"};
  }
  made_ = {status.st_dev, status.st_ino};
  give_to_caller(fd_);
  return kDone;
}

std::optional<CreatedFile> OutputFile::created_file() const {
  return is_stream_ || was_there_ ? std::nullopt : std::optional<CreatedFile>({place_, made_});
}

bool CreatedFile::remove() const {
  return is_at(inode_, place_) && ::unlink(place_.c_str()) == 0;
}

void OutputFile::take_back() {
  if (is_stream_ || !is_at(made_, place_)) {
    return;
  }
  if (was_there_) {
    const UniqueFd fd(::open(place_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    Status status{};
    if (fd.valid() && ::fstat(fd.get(), &status) == 0 && status.st_ino == made_.number) {
      (void)!::ftruncate(fd.get(), 0);
    }
  } else if (::unlink(place_.c_str()) == 0) {
    put_old_back();
  }
}

void OutputFile::put_old_back() {
  const std::string old = place_ + ".old";
  // link(2) and not rename(2): it replaces no file that was created there in between.
  if (is_at(replaced_, old) && ::link(old.c_str(), place_.c_str()) == 0) {
    ::unlink(old.c_str());
  }
}

}  // namespace memtrace
