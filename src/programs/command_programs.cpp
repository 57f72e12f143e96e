#include "programs/command_programs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <deque>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"
#include "os/foreign_file.h"
#include "os/trust.h"
#include "programs/library_search.h"
#include "programs/run_loader.h"
#include "symbolize/elf/program_interpreter.h"

namespace memtrace {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_program(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// As a process with that root directory sees it: "" when it is no program.
std::string program_below(const std::string& root, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    std::string resolved = resolve_below(root, name);
    return is_program(root + resolved) ? resolved : "";
  }
  const char* path = std::getenv("PATH");
  const std::string directories = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (const std::string_view directory : split(directories, ':')) {
    std::string resolved =
        resolve_below(root, std::string(directory.empty() ? "." : directory) + "/" + name);
    if (!resolved.empty() && is_program(root + resolved)) {
      return resolved;
    }
  }
  return "";
}

// Others would run a program that they are asked to list as glibc's can be asked.
bool is_glibc_loader(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("ld-linux") || name.starts_with("ld64.so") || name.starts_with("ld-2.");
}

// "#!/usr/bin/env python3": the program and its one argument.
std::vector<std::string> interpreter_line(const std::string& path) {
  const auto file = open_foreign_file(path);
  std::array<char, 256> buffer{};  // as much as the kernel looks at (fs/binfmt_script.c)
  const auto count = file.ok()
                         ? read_at(file.value().fd, std::as_writable_bytes(std::span(buffer)), 0)
                         : Result<std::size_t>(std::size_t{0});
  const std::string_view text(buffer.data(), count.ok() ? count.value() : 0);
  if (!text.starts_with("#!")) {
    return {};
  }
  const std::string_view line = trim(text.substr(2, text.find('\n') - 2));
  const std::size_t blank = line.find_first_of(" \t");
  std::vector<std::string> words = {std::string(line.substr(0, blank))};
  if (blank != std::string_view::npos) {
    words.emplace_back(trim(line.substr(blank)));
  }
  return words;
}

// Programs that execute another one, which their arguments name.
bool becomes_another(std::string_view name) {
  constexpr auto kLaunchers = std::to_array<std::string_view>(
      {"env",  "chroot",  "nice",   "ionice",  "nohup",   "setsid",  "timeout", "taskset",
       "chrt", "numactl", "stdbuf", "setarch", "linux32", "linux64", "x86_64",  "i386",
       "i686", "prlimit", "choom",  "unshare", "setpriv", "runuser", "sudo",    "doas"});
  return std::ranges::find(kLaunchers, name) != kLaunchers.end();
}

// "NAME=VALUE", as env(1) takes it.
bool is_assignment(std::string_view word) {
  return word.find('=') != std::string_view::npos && word.find('=') > 0 && !word.starts_with('-') &&
         word.substr(0, word.find('=')).find('/') == std::string_view::npos;
}

bool is_directory(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// What a launcher will become: options and their values are no programs, so the first word that is
// one is taken for it.
std::optional<Execution> behind_launcher(const Execution& command) {
  const std::string_view name = file_name(command.words.front());
  if (!becomes_another(name)) {
    return std::nullopt;
  }
  Execution next{.root = command.root, .environment = command.environment, .words = {}};
  bool needs_root = name == "chroot";
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    if (needs_root && !word.starts_with('-') && is_directory(command.root + word)) {
      next.root = command.root + resolve_below(command.root, word);
      next.root = next.root == "/" ? "" : next.root;
      needs_root = false;
    } else if (name == "env" && is_assignment(word)) {
      next.environment.insert(next.environment.begin(), word);  // the last one counts
    } else if (!word.starts_with('-') && !needs_root && !program_below(next.root, word).empty()) {
      next.words.assign(command.words.begin() + static_cast<std::ptrdiff_t>(i),
                        command.words.end());
      return next;
    }
  }
  return std::nullopt;
}

// `ld.so --library-path DIR --preload LIB PROGRAM ARGUMENT`: up to the program the words are the
// loader's own.
std::optional<CommandProgram> behind_loader(const Execution& command, const std::string& loader) {
  constexpr auto kWithValue = std::to_array<std::string_view>({"--library-path",
                                                               "--preload",
                                                               "--inhibit-rpath",
                                                               "--audit",
                                                               "--argv0",
                                                               "--glibc-hwcaps-prepend",
                                                               "--glibc-hwcaps-mask"});
  CommandProgram program{
      .root = command.root, .environment = command.environment, .loader = {loader}, .path = {}};
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    if (!word.starts_with('-')) {
      program.path = resolve_below(command.root, word);
      return program.path.empty() ? std::nullopt : std::optional(program);
    }
    if (word == "--") {
      continue;
    }
    program.loader.push_back(word);
    if (std::ranges::find(kWithValue, word) != kWithValue.end() && i + 1 < command.words.size()) {
      program.loader.push_back(command.words[++i]);
    }
  }
  return std::nullopt;
}

// Adds the command's own program; what it will become waits in `pending`.
void add_program(const Execution& command,
                 std::vector<CommandProgram>& programs,
                 std::deque<Execution>& pending) {
  const std::string path = program_below(command.root, command.words.front());
  if (path.empty()) {
    return;
  }
  programs.push_back(
      {.root = command.root, .environment = command.environment, .loader = {}, .path = path});
  std::vector<std::string> script = interpreter_line(command.root + path);
  if (!script.empty()) {
    script.insert(script.end(), command.words.begin(), command.words.end());
    pending.push_back({command.root, command.environment, std::move(script)});
  } else if (is_loader_name(command.words.front()) || is_loader_name(path)) {
    if (auto program = behind_loader(command, path)) {
      programs.push_back(std::move(*program));
    }
  } else if (auto next = behind_launcher(command)) {
    pending.push_back(std::move(*next));
  }
}

// A loader runs with our rights, even if the program will run as another user. A program can name
// anything as its loader, and the loader runs code of the program's choice when it audits
// (DT_AUDIT, rtld-audit(7)).
bool may_be_run(const CommandProgram& program, const std::string& loader) {
  return is_path_of_ours(program.root + resolve_below(program.root, loader)) &&
         is_path_of_ours(program.root + program.path);
}

// `words`: the loader and its options.
std::vector<std::string> told_by_loader(const CommandProgram& program,
                                        std::vector<std::string> words) {
  words.front() = resolve_below(program.root, words.front());  // links on the way may be changed
  const auto audit = std::ranges::find(words, "--audit");
  if (audit != words.end()) {
    words.erase(audit, std::min(audit + 2, words.end()));
  }
  Execution execution{.root = program.root, .environment = program.environment, .words = words};
  execution.words.insert(execution.words.end(), {"--list", program.path});
  std::vector<std::string> libraries = parse_loader_list(run_loader(execution));
  if (libraries.empty() && is_glibc_loader(words.front())) {
    // As ldd(1) asks, which gives the others when one is missing (elf/rtld.c, --list ends there).
    execution.words = words;
    execution.words.push_back(program.path);
    execution.environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
    libraries = parse_loader_list(run_loader(execution));
  }
  return libraries;
}

// The word behind an option of the loader's, or else the value of a variable.
std::string loader_setting(const CommandProgram& program,
                           std::string_view option,
                           std::string_view variable) {
  const auto word = std::ranges::find(program.loader, option);
  if (word != program.loader.end() && word + 1 != program.loader.end()) {
    return *(word + 1);
  }
  for (const std::string& line : with_own_environment(program.environment)) {
    if (line.starts_with(variable) && line.substr(variable.size()).starts_with('=')) {
      return line.substr(variable.size() + 1);
    }
  }
  return "";
}

std::vector<std::string> searched(const CommandProgram& program) {
  LibrarySearch search(
      {.root = program.root,
       .library_path = loader_setting(program, "--library-path", "LD_LIBRARY_PATH"),
       .preload = loader_setting(program, "--preload", "LD_PRELOAD")});
  return search.libraries_of(program.path);
}

// A path as a process with another root directory sees it, whose links lead below that root.
class WayBelow {
 public:
  WayBelow(const std::string& root, const std::string& path) : root_(root) { put_first(path); }

  // "" when nothing is there.
  std::string end() {
    constexpr int kMaxLinks = 40;  // as the kernel (MAXSYMLINKS)
    while (!rest_.empty() && links_ <= kMaxLinks) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      step(name);
    }

    struct stat status {};

    const bool is_there = rest_.empty() && ::lstat((root_ + resolved_).c_str(), &status) == 0;
    return is_there ? resolved_ : "";
  }

 private:
  void step(const std::string& name) {
    if (name.empty() || name == ".") {
      return;
    }
    if (name == "..") {
      resolved_.resize(resolved_.empty() ? 0 : resolved_.rfind('/'));
      return;
    }
    std::string next = resolved_ + "/" + name;
    std::array<char, PATH_MAX> link{};
    const ssize_t length = ::readlink((root_ + next).c_str(), link.data(), link.size());
    if (length < 0) {
      resolved_ = std::move(next);
      return;
    }
    ++links_;
    const std::string_view to(link.data(), static_cast<std::size_t>(length));
    resolved_ = to.starts_with('/') ? "" : resolved_;
    put_first(to);
  }

  void put_first(std::string_view names) {
    const auto words = split(names, '/');
    rest_.insert(rest_.begin(), words.begin(), words.end());
  }

  const std::string& root_;
  std::deque<std::string> rest_;  // names that are still to go
  std::string resolved_;
  int links_ = 0;
};

}  // namespace

// glibc's is called ld-linux-x86-64.so.2, ld64.so.1, ld-2.17.so, or ld.so; musl's
// ld-musl-ARCH.so.1.
bool is_loader_name(std::string_view path) {
  const std::string_view name = file_name(path);
  return (name.starts_with("ld-") || name.starts_with("ld64.so") || name.starts_with("ld.so")) &&
         name.find(".so") != std::string_view::npos;
}

std::vector<CommandProgram> command_programs(std::span<const std::string> words) {
  constexpr std::size_t kDeepest = 16;  // else a script that interprets itself has no end
  std::vector<CommandProgram> programs;
  std::deque<Execution> pending;
  if (!words.empty()) {
    pending.push_back({.root = {}, .environment = {}, .words = {words.begin(), words.end()}});
  }
  for (std::size_t depth = 0; !pending.empty() && depth < kDeepest; ++depth) {
    const Execution command = std::move(pending.front());
    pending.pop_front();
    add_program(command, programs, pending);
  }
  return programs;
}

std::vector<std::string> libraries_of(const CommandProgram& program) {
  std::vector<std::string> words = program.loader;
  if (words.empty()) {
    std::string loader = program_interpreter(program.root + program.path);
    if (loader.empty()) {
      return {};  // static, or no ELF file
    }
    words = {std::move(loader)};
  }
  std::vector<std::string> libraries =
      may_be_run(program, words.front()) ? told_by_loader(program, words) : searched(program);
  libraries.push_back(words.front());
  for (std::string& library : libraries) {
    library = program.root.empty() ? library : resolve_below(program.root, library);
  }
  std::erase(libraries, "");
  return libraries;
}

std::string resolve_below(const std::string& root, const std::string& path) {
  if (!root.empty()) {
    return WayBelow(root, path).end();
  }
  std::array<char, PATH_MAX> resolved{};
  return ::realpath(path.c_str(), resolved.data()) == nullptr ? "" : resolved.data();
}

std::vector<std::string> parse_loader_list(const std::string& text) {
  std::vector<std::string> paths;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t arrow = line.find("=> ");
    line = trim(arrow == std::string_view::npos ? line : line.substr(arrow + 3));
    const std::size_t address = line.rfind(" (0x");
    if (line.starts_with('/') && address != std::string_view::npos) {
      paths.emplace_back(line.substr(0, address));
    }
  }
  return paths;
}

}  // namespace memtrace
