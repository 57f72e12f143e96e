#include "os/system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>

#include "base/text.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return Error{"open(" + path + ")", errno, ""};
  }
  std::string content;
  std::array<char, 65536> block{};
  while (true) {
    const std::size_t wanted_bytes = std::min(block.size(), most_bytes - content.size());
    const ssize_t got = ::read(fd.get(), block.data(), wanted_bytes);
    if (got == 0) {
      return content;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Error{"read(" + path + ")", errno, ""};
    }
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (directory == nullptr) {
    return Error{"opendir(" + path + ")", errno, ""};
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool path_exists(const std::string& path) {
  // Not access(2): it asks for the real user's rights and sees no capabilities.
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0;
}

Result<std::vector<int>> online_cpus() {
  auto list = read_file("/sys/devices/system/cpu/online");
  if (!list.ok()) {
    return list.take_error();
  }
  auto cpus = parse_cpu_list(trim(list.value()));
  if (cpus.empty()) {
    return Error{"/sys/devices/system/cpu/online: not a CPU list", 0, ""};
  }
  return cpus;
}

std::size_t usable_cpu_count() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return ::sched_getaffinity(0, sizeof(cpus), &cpus) == 0
             ? static_cast<std::size_t>(CPU_COUNT(&cpus))
             : 1;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view range : split(trim(text), ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_number(ends.front());
    const auto last = parse_number(ends.back());
    if (ends.size() > 2 || !first || !last || *last > 65535) {
      break;
    }
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

std::uint64_t page_size_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

std::uint64_t wall_clock_ns() {
  return clock_ns(CLOCK_REALTIME);
}

const MachineName& machine_name() {
  static const MachineName machine = [] {
    utsname name{};
    ::uname(&name);
    return MachineName{.host = static_cast<const char*>(name.nodename),
                       .kernel_release = static_cast<const char*>(name.release),
                       .architecture = static_cast<const char*>(name.machine)};
  }();
  return machine;
}

std::string boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text.ok() ? std::string(trim(text.value())) : "";
}

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace memtrace
