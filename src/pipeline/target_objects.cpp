#include "pipeline/target_objects.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>

#include "base/foreign_file.h"
#include "base/system.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "symbolize/program_interpreter.h"

namespace memtrace {
namespace {

// The first path by which a file is met stays.
class ObjectList {
 public:
  void add(std::string path, std::string mapped_path) {
    if (seen_.insert(path)) {
      objects_.push_back({std::move(path), std::move(mapped_path)});
    }
  }

  std::vector<TargetObject> take() { return std::move(objects_); }

 private:
  FileSet seen_;
  std::vector<TargetObject> objects_;
};

bool is_same_file(const std::string& left, const std::string& right) {
  struct stat first {};

  struct stat second {};

  return ::stat(left.c_str(), &first) == 0 && ::stat(right.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// The shortest name that opens the mapped file from here. It may live in another mount namespace,
// or have been deleted or replaced since.
std::string path_from_here(const std::string& process, std::string_view range, std::string mapped) {
  const std::string exact = process + "/map_files/" + std::string(range);
  if (is_same_file(mapped, exact)) {
    return mapped;
  }
  const std::string rooted = process + "/root" + mapped;
  return is_same_file(rooted, exact) ? rooted : exact;
}

// "7f12-7f34 r-xp 00028000 fe:01 131  /usr/lib/libc.so.6": six columns, the last may hold blanks.
void add_mapping(ObjectList& objects, const std::string& process, std::string_view line) {
  std::array<std::string_view, 5> columns;
  for (std::string_view& column : columns) {
    const std::size_t blank = line.find(' ');
    column = line.substr(0, blank);
    line = blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
  }
  const std::string_view path = trim(line);
  if (columns[1].size() < 3 || columns[1][2] != 'x' || !path.starts_with('/')) {
    return;
  }
  constexpr std::string_view kDeleted = " (deleted)";
  std::string mapped(path);
  if (mapped.ends_with(kDeleted)) {
    mapped.resize(mapped.size() - kDeleted.size());
  }
  objects.add(path_from_here(process, columns[0], mapped), mapped);
}

void add_process(ObjectList& objects, std::uint32_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const auto maps = read_file(process + "/maps");
  const std::string text = maps.ok() ? maps.value() : "";
  for (const std::string_view line : split(text, '\n')) {
    add_mapping(objects, process, line);
  }
}

std::vector<std::uint32_t> all_processes() {
  const auto names = list_directory("/proc");
  std::vector<std::uint32_t> pids;
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    if (const auto pid = parse_number(name)) {
      pids.push_back(static_cast<std::uint32_t>(*pid));
    }
  }
  return pids;
}

// Standard output of a program; "" when it cannot be run.
std::string output_of(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return "";
  }
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  std::vector<char*> words;
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out.get(), STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDERR_FILENO);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  out.reset();
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(in.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
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

// A program and the libraries that are loaded with it.
void add_program(ObjectList& objects, const std::string& path, int depth = 0) {
  constexpr int kDeepest = 4;
  objects.add(path, path);
  const std::vector<std::string> script = interpreter_line(path);
  if (!script.empty() && depth < kDeepest) {
    add_program(objects, script[0], depth + 1);
    // "env python3" becomes another program.
    const bool is_env = script[0].ends_with("/env") && script.size() > 1;
    const auto next = is_env ? find_program(script[1]) : Result<std::string>(Error{});
    if (next.ok()) {
      add_program(objects, next.value(), depth + 1);
    }
    return;
  }
  const std::string loader = program_interpreter(path);
  if (loader.empty()) {
    return;  // static, or no ELF file
  }
  for (const std::string& library : parse_loader_list(output_of({loader, "--list", path}))) {
    objects.add(library, library);
  }
  objects.add(loader, loader);
}

// "libc" is libc.so.6 or libc-2.17.so.
bool is_library_named(std::string_view path, std::string_view name) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file == name || (file.starts_with(name) && (file.substr(name.size()).starts_with(".so") ||
                                                     file.substr(name.size()).starts_with("-")));
}

}  // namespace

bool FileSet::insert(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ids_.insert({status.st_dev, status.st_ino}).second;
}

std::optional<TargetObject> object_of_mapping(const NewMapping& mapping) {
  const std::string process = "/proc/" + std::to_string(mapping.pid);
  const std::string range = format("%llx-%llx",
                                   static_cast<unsigned long long>(mapping.start),
                                   static_cast<unsigned long long>(mapping.end));
  const std::string exact = process + "/map_files/" + range;

  struct stat status {};

  if (::stat(exact.c_str(), &status) == 0) {
    return TargetObject{path_from_here(process, range, mapping.path), mapping.path};
  }
  // The process has ended already, or called execve(2): others may run the same file.
  if (::stat(mapping.path.c_str(), &status) != 0 || status.st_ino != mapping.inode) {
    return std::nullopt;
  }
  return TargetObject{mapping.path, mapping.path};
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

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const char* path = std::getenv("PATH");
  const std::string directories = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (const std::string_view directory : split(directories, ':')) {
    std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return Error{"command " + name, ENOENT, "no such program in PATH"};
}

Result<TargetObject> find_object(const std::vector<TargetObject>& objects,
                                 const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!path_exists(name)) {
      return Error{"no file " + name,
                   0,
                   "of a process in a container name it as /proc/PID/root/PATH",
                   ErrorKind::Usage};
    }
    return TargetObject{name, name};
  }
  std::vector<std::string> names;
  for (const TargetObject& object : objects) {
    if (is_library_named(object.mapped_path, name)) {
      return object;
    }
    names.push_back(object.mapped_path.substr(object.mapped_path.rfind('/') + 1));
  }
  const auto near = nearest(name, names);
  return Error{"no library '" + name + "' in the target",
               0,
               near.empty() ? "name it by its path" : "did you mean " + join(near, " or ") + "?",
               ErrorKind::Usage};
}

std::vector<TargetObject> objects_of_process(std::uint32_t pid) {
  ObjectList objects;
  add_process(objects, pid);
  return objects.take();
}

Result<std::vector<TargetObject>> objects_of(const Target& target) {
  ObjectList objects;
  if (!target.command.empty()) {
    auto program = find_program(target.command.front());
    if (!program.ok()) {
      return program.take_error();
    }
    add_program(objects, program.value());
  }
  std::vector<std::uint32_t> pids = target.ids;
  if (target.kind == TargetKind::System) {
    pids = all_processes();
  }
  for (const std::uint32_t pid : pids) {
    add_process(objects, pid);
  }
  return objects.take();
}

}  // namespace memtrace
