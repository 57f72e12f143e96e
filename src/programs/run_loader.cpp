#include "programs/run_loader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>

#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20U;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Others make the loader run code (LD_AUDIT, and LD_WARN by relocating) or write files (LD_PROFILE,
// LD_DEBUG_OUTPUT); they are meant for the program and its user.
bool is_for_loader(std::string_view line) {
  constexpr auto kHarmless = std::to_array<std::string_view>(
      {"LD_LIBRARY_PATH=", "LD_PRELOAD=", "LD_HWCAP_MASK=", "LD_TRACE_LOADED_OBJECTS="});
  return !line.starts_with("LD_") ||
         std::ranges::any_of(kHarmless, [&](auto name) { return line.starts_with(name); });
}

[[noreturn]] void become(const Execution& execution,
                         int out,
                         char* const* words,
                         char* const* environment) {
  reset_signals();
  ::dup2(out, STDOUT_FILENO);
  // NOLINTNEXTLINE(android-cloexec-open): it may be standard input already, which has to stay.
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  if (execution.root.empty() || (::chroot(execution.root.c_str()) == 0 && ::chdir("/") == 0)) {
    ::execve(words[0], words, environment);
  }
  ::_exit(127);
}

// Until its end, or the end of our patience.
std::string read_all(const UniqueFd& in) {
  std::string text;
  std::array<char, 4096> buffer{};
  const auto deadline = Clock::now() + kPatience;
  while (text.size() < kMaxOutputBytes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{in.get(), POLLIN, 0};
    const int polled = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (polled < 0 && errno == EINTR) {
      continue;
    }
    const ssize_t count = polled > 0 ? ::read(in.get(), buffer.data(), buffer.size()) : 0;
    if (count <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::vector<std::string> with_own_environment(std::vector<std::string> first) {
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    first.emplace_back(*line);
  }
  return first;
}

std::string run_loader(const Execution& execution) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return "";
  }
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const std::vector<char*> words = pointers_to(execution.words);
  std::vector<std::string> environment = with_own_environment(execution.environment);
  std::erase_if(environment, [](const std::string& line) { return !is_for_loader(line); });
  const std::vector<char*> lines = pointers_to(environment);
  const pid_t child = ::fork();
  if (child == 0) {
    become(execution, out.get(), words.data(), lines.data());
  }
  if (child < 0) {
    return "";
  }
  out.reset();
  std::string text = read_all(in);
  ::kill(child, SIGKILL);  // it has closed its output: nothing more is to come
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace memtrace
