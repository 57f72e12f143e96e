#include "cli/output/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

constexpr int kCannotRun = 127;  // as of a shell

// F: end when all fits on the screen; R: colours; X: leave the text on the screen.
constexpr const char* kLessOptions = "LESS=FRX";

// Of less in UTF-8, and of the terminal.
bool is_harmless(std::string_view variable) {
  constexpr std::array<std::string_view, 4> kNames = {"TERM=", "LANG=", "LC_ALL=", "LC_CTYPE="};
  return std::ranges::any_of(
      kNames, [variable](std::string_view name) { return variable.starts_with(name); });
}

const std::string* find_variable(const std::vector<std::string>& environment,
                                 std::string_view name) {
  const auto found = std::ranges::find_if(
      environment, [name](const std::string& one) { return one.starts_with(name); });
  return found == environment.end() ? nullptr : &*found;
}

PagerCommand pager_of_root(const std::vector<std::string>& environment) {
  PagerCommand pager{.words = {"/usr/bin/less"}, .environment = {kLessOptions, "LESSSECURE=1"}};
  std::ranges::copy_if(environment, std::back_inserter(pager.environment), is_harmless);
  return pager;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT: execve(2) writes to none
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Ctrl-C is for the pager while it runs; one that is left early gives EPIPE.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}

  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;
  IgnoredSignal(IgnoredSignal&&) = delete;
  IgnoredSignal& operator=(IgnoredSignal&&) = delete;

  ~IgnoredSignal() { std::signal(signal_, before_); }

 private:
  int signal_;
  void (*before_)(int);
};

// In the child: never returns.
[[noreturn]] void run_pager(int input, char* const* words, char* const* environment) {
  ::dup2(input, STDIN_FILENO);
  std::signal(SIGINT, SIG_DFL);
  reset_signals();
  ::execve(words[0], words, environment);
  ::_exit(kCannotRun);
}

// Until the user leaves the pager before the end: then the rest is of no interest.
void write_while_read(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

}  // namespace

PagerCommand pager_command(bool is_root, const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PAGER=";
  if (is_root) {
    return pager_of_root(environment);
  }
  const std::string* set = find_variable(environment, kName);
  const std::string command = set == nullptr ? "less" : set->substr(kName.size());
  if (command.empty() || command == "cat") {
    return {};
  }
  PagerCommand pager{.words = {"/bin/sh", "-c", command}, .environment = environment};
  if (find_variable(environment, "LESS=") == nullptr) {
    pager.environment.emplace_back(kLessOptions);
  }
  return pager;
}

bool is_longer_than(std::string_view text, std::size_t rows) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n')) > rows;
}

bool show_in_pager(const PagerCommand& pager, std::string_view text) {
  std::array<int, 2> ends{};
  if (pager.words.empty() || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  UniqueFd input(ends[0]);
  UniqueFd output(ends[1]);
  const auto words = pointers_to(pager.words);
  const auto environment = pointers_to(pager.environment);
  const IgnoredSignal interrupt(SIGINT);
  const IgnoredSignal broken_pipe(SIGPIPE);
  const pid_t child = ::fork();
  if (child == 0) {
    run_pager(input.get(), words.data(), environment.data());
  }
  input = UniqueFd();
  if (child < 0) {
    return false;
  }
  write_while_read(output.get(), text);
  output = UniqueFd();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) != kCannotRun;
}

}  // namespace memtrace
