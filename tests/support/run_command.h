// Runs programs as a user would, from a shell, and returns their results.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace memtrace::test {

using Environment = std::map<std::string, std::string>;

// As a shell has it: 128 + N for signal N.
struct Outcome {
  int status = -1;
  std::string out;
  std::string err;

  bool says(std::string_view text) const { return err.find(text) != std::string::npos; }

  std::string all() const {
    return "status " + std::to_string(status) + "\nstdout:\n" + out + "\nstderr:\n" + err;
  }
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// False when it did not come true within ten seconds.
inline bool wait_until(const std::function<bool()>& condition,
                       std::chrono::seconds patience = std::chrono::seconds(10)) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + patience;
  while (!condition()) {
    if (steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// A shell script that runs at the same time, in `folder`. `exec` in front of its only command makes
// pid() that command's. Its outputs go to files: no pipe can fill up and no child can hold one
// open.
class Background {
 public:
  Background(const std::string& script, const std::string& folder, const Environment& environment) {
    static int started = 0;
    const std::string base = folder + "/.outcome-" + std::to_string(started++);
    out_ = base + ".out";
    err_ = base + ".err";
    pid_ = ::fork();
    if (pid_ == 0) {
      become(script, folder, environment);
    }
  }

  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  ~Background() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }

  pid_t pid() const { return pid_; }

  std::string out() const { return text_of(out_); }

  std::string err() const { return text_of(err_); }

  void signal(int number) const { ::kill(pid_, number); }

  Outcome wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {.status = code, .out = out(), .err = err()};
  }

 private:
  [[noreturn]] void become(const std::string& script,
                           const std::string& folder,
                           const Environment& environment) {
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    const bool ready = ::chdir(folder.c_str()) == 0 &&
                       std::freopen(out_.c_str(), "w", stdout) != nullptr &&
                       std::freopen(err_.c_str(), "w", stderr) != nullptr;
    if (ready) {
      ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    }
    ::_exit(127);
  }

  pid_t pid_ = -1;
  std::string out_;
  std::string err_;
};

inline Outcome run_script(const std::string& script,
                          const std::string& folder,
                          const Environment& environment) {
  return Background(script, folder, environment).wait();
}

}  // namespace memtrace::test
