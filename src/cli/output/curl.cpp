#include "cli/output/curl.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/visible.h"
#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

// Not the one of PATH: a name that is found there may be any program of the user who called sudo.
constexpr const char* kCurl = "/usr/bin/curl";
constexpr int kNotThere = 127;  // as of a shell

struct CurlPipe {
  UniqueFd output;  // to read from
  UniqueFd input;
};

std::optional<CurlPipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  return CurlPipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// In quotes, curl's configuration knows a backslash before these.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
    }
    result += character;
  }
  return result + '"';
}

// Until curl ends before it has read all: then it says why.
void write_to_curl(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

std::string read_from_curl(int fd) {
  constexpr std::size_t kMostBytes = 4096;  // the first words are enough for a message
  std::string text;
  std::array<char, 512> piece{};
  for (;;) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return text;
    }
    if (count > 0 && text.size() < kMostBytes) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
  }
}

struct CurlEnds {
  CurlPipe config;
  CurlPipe body;
  CurlPipe words;
};

// In the child: never returns.
[[noreturn]] void run_curl(const CurlEnds& ends, char* const* words, char* const* environment) {
  ::dup2(ends.body.output.get(), STDIN_FILENO);
  ::dup2(ends.words.input.get(), STDOUT_FILENO);
  ::dup2(ends.words.input.get(), STDERR_FILENO);
  ::fcntl(ends.config.output.get(), F_SETFD, 0);
  reset_signals();
  ::execve(kCurl, words, environment);
  ::_exit(kNotThere);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<char*> as_arguments(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT: execve(2) writes to none
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<> outcome_of(int status, std::string words) {
  if (status == 0) {
    return kDone;
  }
  if (status == kNotThere) {
    return Error{std::string("execve(") + kCurl + ")",
                 ENOENT,
                 "install curl, or write the profile with --format pprof and send it yourself"};
  }
  std::ranges::replace(words, '\n', ' ');
  while (words.ends_with(' ')) {
    words.pop_back();
  }
  return Error{
      "sending the profile: " + (words.empty() ? std::string("curl failed") : visible(words)),
      0,
      "the address and the server's log show why"};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

// The child's process id, or -1.
pid_t start_curl(const CurlEnds& ends) {
  // -q comes first: no ~/.curlrc, which under sudo is the caller's.
  const std::vector<std::string> command = {
      kCurl, "-q", "--config", "/dev/fd/" + std::to_string(ends.config.output.get())};
  const std::vector<std::string> environment = curl_environment(own_environment());
  const auto arguments = as_arguments(command);
  const auto variables = as_arguments(environment);
  const pid_t child = ::fork();
  if (child == 0) {
    run_curl(ends, arguments.data(), variables.data());
  }
  return child;
}

}  // namespace

std::string curl_config(const PostRequest& request) {
  constexpr const char* kSeconds = "60";
  std::string config = "url = " + quoted(request.url) + "\n";
  for (const std::string& header : request.headers) {
    config += "header = " + quoted(header) + "\n";
  }
  // Without "Expect: 100-continue", which small servers do not answer.
  config += "header = \"Expect:\"\n";
  config += std::string("request = \"POST\"\ndata-binary = \"@-\"\nmax-time = ") + kSeconds + "\n";
  config += "silent\nshow-error\nfail\noutput = \"/dev/null\"\n";
  return config;
}

std::vector<std::string> curl_environment(const std::vector<std::string>& environment) {
  constexpr auto kNames = std::to_array<std::string_view>({"http_proxy=",
                                                           "https_proxy=",
                                                           "HTTPS_PROXY=",
                                                           "all_proxy=",
                                                           "ALL_PROXY=",
                                                           "no_proxy=",
                                                           "NO_PROXY=",
                                                           "SSL_CERT_FILE=",
                                                           "SSL_CERT_DIR=",
                                                           "CURL_CA_BUNDLE="});
  std::vector<std::string> kept;
  std::ranges::copy_if(environment, std::back_inserter(kept), [&](const std::string& variable) {
    return std::ranges::any_of(
        kNames, [&variable](std::string_view name) { return variable.starts_with(name); });
  });
  return kept;
}

Result<> post_with_curl(const PostRequest& request) {
  auto config = open_pipe();
  auto body = open_pipe();
  auto words = open_pipe();
  if (!config || !body || !words) {
    return Error{"pipe2", errno, ""};
  }
  CurlEnds ends{std::move(*config), std::move(*body), std::move(*words)};
  // Fits into the pipe: it is read when curl runs.
  write_to_curl(ends.config.input.get(), curl_config(request));
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const pid_t child = start_curl(ends);
  if (child < 0) {
    return Error{"fork", errno, ""};
  }
  ends.config = {};
  ends.words.input = UniqueFd();
  ends.body.output = UniqueFd();
  write_to_curl(ends.body.input.get(), request.body);
  ends.body.input = UniqueFd();
  std::string said = read_from_curl(ends.words.output.get());
  const int status = status_of(child);
  std::signal(SIGPIPE, before);
  return outcome_of(status, std::move(said));
}

}  // namespace memtrace
