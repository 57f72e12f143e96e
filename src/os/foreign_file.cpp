#include "os/foreign_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>

#include "base/units.h"
#include "os/system.h"

namespace memtrace {
namespace {

// O_NONBLOCK: a FIFO that took the file's place has no writer to wait for.
constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// For the handler of SIGBUS, which must not ask sysconf(3).
std::uintptr_t page_bytes = 0;

struct sigaction action_before {};

std::atomic<std::uint64_t> copied_of_all = 0;

// Others are all users but root and the one who runs memtrace. An access control list that lets
// others write shows in the bits of the group (acl(5)).
bool others_can_write(const struct stat& status) {
  const bool is_ours = status.st_uid == 0 || status.st_uid == ::geteuid();
  return !is_ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// The file that `path` names now, without opening what may be a device: O_PATH opens nothing (Linux
// 2.6.39; fstat(2) takes its descriptors from 3.6 on), and /proc has a link that leads to that very
// file, even if another file takes the name.
UniqueFd open_regular(const std::string& path) {
  const UniqueFd named(::open(path.c_str(), O_PATH | kReadFlags));

  struct stat status {};

  if (!named.valid()) {
    return {};
  }
  if (::fstat(named.get(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      errno = 0;
      return {};
    }
    const std::string link = "/proc/self/fd/" + std::to_string(named.get());
    UniqueFd fd(::open(link.c_str(), kReadFlags));
    if (fd.valid() || (errno != ENOENT && errno != ENOTDIR)) {
      return fd;
    }
  }
  return UniqueFd(::open(path.c_str(), kReadFlags));
}

}  // namespace

Result<ForeignFile> open_foreign_file(const std::string& path) {
  ForeignFile file;
  // Asked by name first, for kernels that do not know O_PATH.
  if (::stat(path.c_str(), &file.status) != 0) {
    return Error{"open(" + path + ")", errno, ""};
  }
  const Error no_file{path + ": not a file", 0, ""};
  if (!S_ISREG(file.status.st_mode)) {
    return no_file;
  }
  file.fd = open_regular(path);
  if (!file.fd.valid()) {
    return errno == 0 ? no_file : Error{"open(" + path + ")", errno, ""};
  }
  if (::fstat(file.fd.get(), &file.status) != 0 || !S_ISREG(file.status.st_mode)) {
    return no_file;
  }
  return file;
}

Result<std::size_t> read_at(const UniqueFd& fd, std::span<std::byte> room, std::uint64_t offset) {
  std::size_t filled = 0;
  while (filled < room.size()) {
    const ssize_t got = ::pread(
        fd.get(), room.data() + filled, room.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Error{"pread", errno, ""};
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

// Found by the handler without a lock: links are only added, and a range of no bytes is free.
struct ForeignBytes::Range {
  std::atomic<std::uintptr_t> start = 0;  // 0: free
  std::atomic<std::uintptr_t> limit = 0;
  std::atomic<bool> was_cut = false;
  Range* next = nullptr;

  static std::atomic<Range*> first;
  static std::mutex mutex;  // for taking or giving back a range; the handler never holds it
};

std::atomic<ForeignBytes::Range*> ForeignBytes::Range::first = nullptr;
std::mutex ForeignBytes::Range::mutex;

// The kernel says SIGBUS where a mapped file has no page any more (mmap(2)), to the thread that
// reads. From there on the range is zeros, all of it: a file that is cut anew for each page must
// not cost a mapping each. mmap(2) is a plain system call and safe here.
void ForeignBytes::on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const int errno_before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Range* range = Range::first.load(); range != nullptr; range = range->next) {
    const std::uintptr_t start = range->start.load();
    const std::uintptr_t limit = range->limit.load();
    // Read again: between the two the range may have been given back and taken for other bytes.
    if (start == 0 || address < start || address >= limit || range->start.load() != start) {
      continue;
    }
    const std::uintptr_t in_page = address & (page_bytes - 1);
    auto* page = static_cast<std::byte*>(info->si_addr) - in_page;
    const std::size_t rest_bytes = limit - (address - in_page);
    constexpr int kFlags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    constexpr int kAccess = PROT_READ | PROT_WRITE;  // writing may be what failed
    if (::mmap(page, rest_bytes, kAccess, kFlags, -1, 0) != MAP_FAILED) {
      range->was_cut.store(true);
      errno = errno_before;
      return;
    }
  }
  // Not ours: as if this handler were not there.
  ::sigaction(signal, &action_before, nullptr);
  ::raise(signal);
}

ForeignBytes::Range* ForeignBytes::guard(std::span<const std::byte> memory) {
  const std::lock_guard lock(Range::mutex);
  if (page_bytes == 0) {
    page_bytes = page_size_bytes();

    struct sigaction action {};

    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &action_before);
  }
  Range* range = Range::first.load();
  while (range != nullptr && range->start.load() != 0) {
    range = range->next;
  }
  if (range == nullptr) {
    // Never freed: the handler may be looking at it.
    range = std::make_unique<Range>().release();
    range->next = Range::first.load();
    Range::first.store(range);
  }
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  range->was_cut.store(false);
  range->limit.store(start + memory.size());
  range->start.store(start);
  return range;
}

// Room for the file, and for the page of zeros behind it.
Result<ForeignBytes> ForeignBytes::reserve(const ForeignFile& file,
                                           const std::string& path,
                                           std::uint64_t most_bytes) {
  const auto size_bytes = static_cast<std::uint64_t>(file.status.st_size);
  if (size_bytes > most_bytes) {
    return Error{
        path + ": larger than the " + print_bytes(most_bytes) + " that memtrace reads", 0, ""};
  }
  ForeignBytes foreign;
  if (size_bytes == 0) {
    return foreign;
  }
  const std::uint64_t page = page_size_bytes();
  const std::size_t file_room = (size_bytes + page - 1) / page * page;
  auto memory = Mapping::map({.size_bytes = file_room + page,
                              .prot = PROT_READ,
                              .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE});
  if (!memory.ok()) {
    return Error{"mmap(" + path + ")", memory.error().errno_value, "is there memory left?"};
  }
  foreign.memory_ = memory.take();
  std::byte* start = foreign.memory_.bytes().data();
  foreign.range_ = guard({start, file_room});
  foreign.bytes_ = {start, size_bytes};
  return foreign;
}

Result<ForeignBytes> ForeignBytes::map(const ForeignFile& file,
                                       const std::string& path,
                                       std::uint64_t most_bytes) {
  auto reserved = reserve(file, path, most_bytes);
  if (!reserved.ok() || reserved.value().bytes_.empty()) {
    return reserved;
  }
  ForeignBytes foreign = reserved.take();
  constexpr int kFileFlags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(foreign.memory_.bytes().data(),
             foreign.bytes_.size(),
             PROT_READ,
             kFileFlags,
             file.fd.get(),
             0) == MAP_FAILED) {
    return Error{"mmap(" + path + ")", errno, "is there memory left?"};
  }
  return foreign;
}

Result<ForeignBytes> ForeignBytes::hold(const ForeignFile& file,
                                        const std::string& path,
                                        std::uint64_t most_bytes) {
  const auto size_bytes = static_cast<std::uint64_t>(file.status.st_size);
  const bool is_large = size_bytes > std::min(kMaxCopied, most_bytes);
  if (size_bytes == 0 || is_large || !others_can_write(file.status)) {
    return map(file, path, most_bytes);
  }
  if (copied_of_all.fetch_add(size_bytes) + size_bytes > kMaxCopiedOfAll) {
    copied_of_all.fetch_sub(size_bytes);
    return map(file, path, most_bytes);
  }
  auto reserved = reserve(file, path, most_bytes);
  if (!reserved.ok()) {
    copied_of_all.fetch_sub(size_bytes);
    return reserved;
  }
  ForeignBytes foreign = reserved.take();
  foreign.copied_bytes_ = size_bytes;
  TRY(foreign.fill(file.fd));
  return foreign;
}

Result<> ForeignBytes::fill(const UniqueFd& fd) {
  TRY(allow_writing(bytes_));
  const auto filled = read_at(fd, memory_.bytes().first(bytes_.size()), 0);
  if (!filled.ok()) {
    return filled.error();
  }
  range_->was_cut.store(filled.value() < bytes_.size());
  return kDone;
}

ForeignBytes::ForeignBytes(ForeignBytes&& other) noexcept
    : memory_(std::move(other.memory_)),
      range_(std::exchange(other.range_, nullptr)),
      bytes_(std::exchange(other.bytes_, {})),
      copied_bytes_(std::exchange(other.copied_bytes_, 0)) {}

ForeignBytes& ForeignBytes::operator=(ForeignBytes&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(range_, other.range_);
  std::swap(bytes_, other.bytes_);
  std::swap(copied_bytes_, other.copied_bytes_);
  return *this;
}

// No longer guarded before it is unmapped: the kernel may give the addresses to others then.
ForeignBytes::~ForeignBytes() {
  if (range_ != nullptr) {
    range_->start.store(0);
  }
  copied_of_all.fetch_sub(copied_bytes_);
}

Result<> ForeignBytes::allow_writing(std::span<const std::byte> part) {
  // mprotect(2) wants the start of a page.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(part.data()) & (page_bytes - 1);
  auto* start = const_cast<std::byte*>(part.data()) - before;
  if (!part.empty() && ::mprotect(start, before + part.size(), PROT_READ | PROT_WRITE) != 0) {
    return Error{"mprotect", errno, "is there memory left?"};
  }
  return kDone;
}

bool ForeignBytes::was_cut() const {
  return range_ != nullptr && range_->was_cut.load();
}

}  // namespace memtrace
