#include "perf/file_in/file_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
// For the mapped file: records are read one after the other, and the file keeps them.
constexpr std::uint64_t kNoLimit = std::numeric_limits<off_t>::max();

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Error open_error(const std::string& path, int errno_value) {
  std::string hint = "check the path";
  if (errno_value == ENOENT) {
    hint = "give the file with -i FILE, or make one with 'memtrace record'";
  } else if (errno_value == EACCES || errno_value == EPERM) {
    hint = "the file belongs to another user; run as that user or as root, or chmod it";
  }
  return {"open(" + path + ")", errno_value, hint};
}

Result<UniqueFd> open_fd(const std::string& path) {
  // A copy of standard input, so that one owner may close it.
  const int fd = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return open_error(path, errno);
  }
  return UniqueFd(fd);
}

}  // namespace

Result<FileInput> FileInput::open(const std::string& path) {
  auto fd = open_fd(path);
  if (!fd.ok()) {
    return fd.take_error();
  }

  ForeignFile file{.fd = fd.take()};
  const struct stat& status = file.status;
  if (::fstat(file.fd.get(), &file.status) != 0) {
    return Error{"fstat(" + path + ")", errno, "check the path"};
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{name_of(path) + " is a directory",
                 0,
                 "give a perf.data file; what 'perf record --threads' leaves in a directory only "
                 "perf reads: record without --threads"};
  }
  FileInput input;
  if (!S_ISREG(status.st_mode)) {
    input.fd_ = std::move(file.fd);
    return input;
  }
  if (status.st_size == 0) {
    return Error{name_of(path) + " is empty", 0, "the recording did not start; record again"};
  }
  auto mapping = ForeignBytes::map(file, path, kNoLimit);
  if (!mapping.ok()) {
    return mapping.take_error();
  }
  input.mapping_ = mapping.take();
  input.window_ = input.mapping_.bytes();
  // Read ahead further than for random access; that it is refused does not matter.
  ::madvise(const_cast<std::byte*>(input.window_.data()), input.window_.size(), MADV_SEQUENTIAL);
  return input;
}

// Unmaps the pages that have been read: otherwise a file of 20 GiB would count as 20 GiB of this
// process's memory. The kernel maps a page again when it is read again (madvise(2),
// MADV_DONTNEED).
void FileInput::release_consumed() {
  constexpr std::uint64_t kStepBytes = std::uint64_t{16} << 20U;
  const std::uint64_t page_mask = ~(page_size_bytes() - 1);
  const std::uint64_t consumed = std::min<std::uint64_t>(position_, whole().size()) & page_mask;
  if (mapping_.valid() && consumed > 0) {
    ::madvise(const_cast<std::byte*>(whole().data()), consumed, MADV_DONTNEED);
  }
  release_at_ = position_ + kStepBytes;
}

// Where the end was is asked for: a file that ends within a page has zeros up to the page's end.
bool FileInput::was_cut() const {
  if (mapping_.valid()) {
    [[maybe_unused]] const volatile std::byte last = mapping_.bytes().back();
  }
  return mapping_.was_cut();
}

void FileInput::seek(std::uint64_t offset) {
  const auto all = whole();
  window_ = all.subspan(std::min<std::uint64_t>(offset, all.size()));
  position_ = offset;
}

// A record that is cut by a block's end goes to the next block as a whole. Its first byte comes to
// lie at the block's start: perf's HEADER_FEATURE records are not padded, and from here on records
// are aligned again.
void FileInput::make_room(std::size_t size_bytes) {
  const std::size_t used_bytes =
      block_.words == nullptr
          ? 0
          : static_cast<std::size_t>(window_.data() + window_.size() - block_.bytes().data());
  if (block_.size_bytes - used_bytes + window_.size() >= size_bytes &&
      used_bytes < block_.size_bytes) {
    return;
  }
  const RecordBlock next = RecordBlock::of(std::max(2 * size_bytes, kBlockBytes));
  std::copy(window_.begin(), window_.end(), next.bytes().begin());
  block_ = next;
  window_ = block_.bytes().first(window_.size());
}

Result<> FileInput::fill(std::size_t size_bytes) {
  if (fd_.valid()) {
    make_room(size_bytes);
  }
  while (fd_.valid() && window_.size() < size_bytes) {
    std::byte* end = block_.bytes().data() + (window_.data() - block_.bytes().data()) +
                     static_cast<std::ptrdiff_t>(window_.size());
    const auto room = static_cast<std::size_t>(block_.bytes().data() + block_.size_bytes - end);
    const ssize_t count = ::read(fd_.get(), end, room);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return Error{"read(pipe)", errno, "is the recording process still there?"};
    }
    if (count == 0) {
      fd_.reset();
      break;  // the end
    }
    window_ = {window_.data(), window_.size() + static_cast<std::size_t>(count)};
  }
  return kDone;
}

Result<> FileInput::read_all() {
  while (fd_.valid()) {
    TRY(fill(std::max(window_.size() * 2, kBlockBytes)));
  }
  return kDone;
}

}  // namespace memtrace
