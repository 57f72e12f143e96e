#include "views/mapping/shm_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "views/mapping/call_names.h"
#include "views/mapping/flag_words.h"

namespace memtrace {
namespace {

constexpr auto kGetFlags = std::to_array<FlagWord>({{kIpcCreate, "IPC_CREAT"},
                                                    {kIpcExclusive, "IPC_EXCL"},
                                                    {04000, "SHM_HUGETLB"},
                                                    {010000, "SHM_NORESERVE"}});
constexpr auto kAttachFlags = std::to_array<FlagWord>(
    {{010000, "SHM_RDONLY"}, {020000, "SHM_RND"}, {040000, "SHM_REMAP"}, {0100000, "SHM_EXEC"}});
constexpr auto kMemfdFlags = std::to_array<FlagWord>({{1, "MFD_CLOEXEC"},
                                                      {2, "MFD_ALLOW_SEALING"},
                                                      {4, "MFD_HUGETLB"},
                                                      {8, "MFD_NOEXEC_SEAL"},
                                                      {16, "MFD_EXEC"}});

struct Command {
  std::uint64_t number = 0;
  std::string_view name;
};

constexpr auto kCommands = std::to_array<Command>({{kIpcRemove, "IPC_RMID"},
                                                   {1, "IPC_SET"},
                                                   {2, "IPC_STAT"},
                                                   {3, "IPC_INFO"},
                                                   {11, "SHM_LOCK"},
                                                   {12, "SHM_UNLOCK"},
                                                   {13, "SHM_STAT"},
                                                   {14, "SHM_INFO"},
                                                   {15, "SHM_STAT_ANY"}});

// A parameter that is an int: the upper half of its register means nothing.
int number_at(const SystemCallDone& done, std::size_t index) {
  return static_cast<int>(static_cast<std::uint32_t>(done.arguments.at(index)));
}

std::uint64_t flags_at(const SystemCallDone& done, std::size_t index) {
  return static_cast<std::uint32_t>(done.arguments.at(index));
}

std::string or_zero(const std::string& words) {
  return words.empty() ? "0" : words;
}

std::string get_arguments(const SystemCallDone& done) {
  constexpr std::uint64_t kMode = 0777;
  const std::uint64_t flags = flags_at(done, 2);
  const auto key = static_cast<std::uint32_t>(done.arguments[0]);
  const std::string mode = fmt::format("0{:03o}", flags & kMode);
  const std::string words = flag_words(flags & ~kMode, kGetFlags);
  return "key=" + (key == kIpcPrivate ? std::string("IPC_PRIVATE") : fmt::format("0x{:x}", key)) +
         fmt::format(" size={} flags=", done.arguments[1]) +
         (words.empty() ? mode : words + "|" + mode);
}

std::string address_text(std::uint64_t avma) {
  return avma == 0 ? "NULL" : fmt::format("0x{:x}", avma);
}

std::string control_arguments(const SystemCallDone& done) {
  const auto* const found = std::ranges::find(kCommands, shm_command(done), &Command::number);
  const std::string command =
      found == kCommands.end() ? fmt::format("{}", shm_command(done)) : std::string(found->name);
  return fmt::format("id={} cmd=", number_at(done, 0)) + command +
         " buf=" + address_text(done.arguments[2]);
}

}  // namespace

std::uint64_t shm_command(const SystemCallDone& done) {
  constexpr std::uint64_t kIpc64 = 0x100;
  return flags_at(done, 1) & ~kIpc64;
}

std::string shm_arguments(const SystemCallDone& done) {
  switch (done.call) {
    case SystemCall::Shmget:
      return get_arguments(done);
    case SystemCall::Shmat:
      return fmt::format("id={} address=", number_at(done, 0)) + address_text(done.arguments[1]) +
             " flags=" + or_zero(flag_words(flags_at(done, 2), kAttachFlags));
    case SystemCall::Shmdt:
      return "address=" + address_text(done.arguments[0]);
    case SystemCall::Shmctl:
      return control_arguments(done);
    case SystemCall::MemfdCreate:
      return "flags=" + or_zero(flag_words(flags_at(done, 1), kMemfdFlags));
    case SystemCall::Ftruncate:
      return fmt::format("fd={} size={}", number_at(done, 0), done.arguments[1]);
    case SystemCall::Mmap:
      return fmt::format("fd={} size={}", number_at(done, 4), done.arguments[1]) + " " +
             protection_name(done.arguments[2]) + " " + map_flag_names(done.arguments[3]);
    default:
      return {};
  }
}

}  // namespace memtrace
