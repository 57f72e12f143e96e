#include "views/mapping/call_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "state/mapping/map_flags.h"
#include "views/mapping/flag_words.h"

namespace memtrace {
namespace {

constexpr auto kCallNames = std::to_array<std::string_view>(
    {"mmap",      "munmap", "mprotect",  "pkey_mprotect", "mremap",          "madvise",
     "brk",       "shmget", "shmat",     "shmdt",         "shmctl",          "memfd_create",
     "ftruncate", "clone",  "clone3",    "fork",          "vfork",           "sync",
     "syncfs",    "fsync",  "fdatasync", "msync",         "sync_file_range", "other"});

struct ErrorName {
  int error = 0;
  std::string_view name;
};

constexpr auto kErrors =
    std::to_array<ErrorName>({{EPERM, "EPERM"},         {ENOENT, "ENOENT"},   {EINTR, "EINTR"},
                              {EBADF, "EBADF"},         {EAGAIN, "EAGAIN"},   {ENOMEM, "ENOMEM"},
                              {EACCES, "EACCES"},       {EFAULT, "EFAULT"},   {EBUSY, "EBUSY"},
                              {EEXIST, "EEXIST"},       {ENODEV, "ENODEV"},   {EINVAL, "EINVAL"},
                              {ENFILE, "ENFILE"},       {EMFILE, "EMFILE"},   {ETXTBSY, "ETXTBSY"},
                              {EFBIG, "EFBIG"},         {ENOSPC, "ENOSPC"},   {EROFS, "EROFS"},
                              {ERANGE, "ERANGE"},       {ENOSYS, "ENOSYS"},   {EIDRM, "EIDRM"},
                              {EOVERFLOW, "EOVERFLOW"}, {ENOTSUP, "ENOTSUP"}, {EUSERS, "EUSERS"},
                              {EDQUOT, "EDQUOT"},       {EIO, "EIO"}});

// include/uapi/asm-generic/mman-common.h, mman.h.
constexpr auto kMapFlags = std::to_array<FlagWord>({{0x10, "fixed"},
                                                    {0x20, "anonymous"},
                                                    {0x40, "32bit"},
                                                    {0x100, "growsdown"},
                                                    {0x800, "denywrite"},
                                                    {0x1000, "executable"},
                                                    {0x2000, "locked"},
                                                    {0x4000, "noreserve"},
                                                    {0x8000, "populate"},
                                                    {0x10000, "nonblock"},
                                                    {0x20000, "stack"},
                                                    {kMapHugeTlb, "hugetlb"},
                                                    {0x80000, "sync"},
                                                    {0x100000, "fixed_noreplace"}});

std::string map_type_name(std::uint64_t flags) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"", "shared", "private", "shared_validate"});
  constexpr std::uint64_t kDroppable = 8;
  const std::uint64_t type = flags & kMapTypeMask;
  if (type < kTypes.size()) {
    return std::string(kTypes.at(type));
  }
  return type == kDroppable ? "droppable" : fmt::format("type {}", type);
}

}  // namespace

std::string_view name_of(SystemCall call) {
  return kCallNames.at(static_cast<std::size_t>(call));
}

std::string error_name(int error) {
  const auto* const found = std::ranges::find(kErrors, error, &ErrorName::error);
  return found == kErrors.end() ? fmt::format("errno {}", error) : std::string(found->name);
}

std::string protection_name(std::uint64_t protection) {
  std::string name = "---";
  name[0] = (protection & kProtectRead) != 0 ? 'r' : '-';
  name[1] = (protection & kProtectWrite) != 0 ? 'w' : '-';
  name[2] = (protection & kProtectExecute) != 0 ? 'x' : '-';
  return name;
}

std::string map_flag_names(std::uint64_t flags) {
  return flag_words(flags & ~kMapTypeMask, kMapFlags, map_type_name(flags));
}

}  // namespace memtrace
