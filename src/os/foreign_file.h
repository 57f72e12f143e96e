// Files that somebody else wrote and may change while they are read: programs, libraries and debug
// files that traced processes map, what is under /proc/PID/root, recordings. The one way to open
// them: a file that turns into a pipe or device hangs nobody, and one that becomes shorter or
// cannot be read kills nobody.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "os/mapping.h"
#include "os/unique_fd.h"

namespace memtrace {

struct ForeignFile {
  UniqueFd fd;

  struct stat status {};  // of fd, when it was opened
};

// Opens only regular files; nothing else is opened, not even to find out what it is. Error:
// "open(PATH)" with errno, or "PATH: not a file".
Result<ForeignFile> open_foreign_file(const std::string& path);

// As much as there is of size_bytes at the offset; reading behind the end is no error.
Result<std::size_t> read_at(const UniqueFd& fd, std::span<std::byte> room, std::uint64_t offset);

// The bytes of a foreign file. What is gone when it is looked at reads as zeros; a page of zeros
// lies behind the end, so that no text runs on into nothing.
class ForeignBytes {
 public:
  // Errors: larger than most_bytes; mmap(2) fails. An empty file has no bytes.
  static Result<ForeignBytes> map(const ForeignFile& file,
                                  const std::string& path,
                                  std::uint64_t most_bytes);

  // The same for a file that must stay as it was checked: a library that trusts a file's own sizes
  // reads anywhere when they change. A mapping shows what others write, so a file that others can
  // write to is copied. A file that is larger than this is mapped, and so is every file once the
  // copies have reached their total limit.
  static constexpr std::uint64_t kMaxCopied = std::uint64_t{64} << 20U;
  static constexpr std::uint64_t kMaxCopiedOfAll = std::uint64_t{256} << 20U;
  static Result<ForeignBytes> hold(const ForeignFile& file,
                                   const std::string& path,
                                   std::uint64_t most_bytes);

  ForeignBytes() = default;
  ForeignBytes(ForeignBytes&& other) noexcept;
  ForeignBytes& operator=(ForeignBytes&& other) noexcept;
  ForeignBytes(const ForeignBytes&) = delete;
  ForeignBytes& operator=(const ForeignBytes&) = delete;
  ~ForeignBytes();

  std::span<const std::byte> bytes() const { return bytes_; }

  bool valid() const { return range_ != nullptr; }

  bool is_copy() const { return copied_bytes_ != 0; }

  // Lets a reader change these bytes in memory; the file is not changed. Error: mprotect(2).
  static Result<> allow_writing(std::span<const std::byte> part);

  // Some of them were asked for and are no longer there.
  bool was_cut() const;

 private:
  struct Range;
  static void on_bus_error(int signal, siginfo_t* info, void* context);
  static Range* guard(std::span<const std::byte> memory);
  static Result<ForeignBytes> reserve(const ForeignFile& file,
                                      const std::string& path,
                                      std::uint64_t most_bytes);
  Result<> fill(const UniqueFd& fd);

  Mapping memory_;
  Range* range_ = nullptr;  // of the list of all, which never shrinks
  std::span<const std::byte> bytes_;
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace memtrace
