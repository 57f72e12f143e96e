// Finds the programs that a command line will execute, and the libraries that their dynamic loaders
// will load: the program itself, a script's interpreter, and what env, chroot, timeout and similar
// programs, or a dynamic loader that is called by its name, will execute.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// One program of a command line.
struct CommandProgram {
  std::string root;                      // of chroot: what the program will see as "/"; else ""
  std::vector<std::string> environment;  // NAME=VALUE that env(1) will add
  std::vector<std::string> loader;       // the dynamic loader and its options, when it was named
  std::string path;                      // absolute or as given, below `root`; no symbolic link
};

// The first is the command itself. Empty when there is no such command.
std::vector<CommandProgram> command_programs(std::span<const std::string> words);

// The libraries that its own dynamic loader would load, the loader last; without root. Empty for
// static programs and files that are no ELF files. Nothing of another user's is run for it, and
// then what only that loader knows is missing.
std::vector<std::string> libraries_of(const CommandProgram& program);

// Of a dynamic loader: "ld-linux-x86-64.so.2".
bool is_loader_name(std::string_view path);

// What a process whose root directory is `root` sees at an absolute path, symbolic links followed
// as it would follow them: below root, which is left out of the result. "" when nothing is there.
std::string resolve_below(const std::string& root, const std::string& path);

// PATH of "=> PATH (0x7f..)" and "PATH (0x7f..)", as `ld.so --list` prints them.
std::vector<std::string> parse_loader_list(const std::string& text);

}  // namespace memtrace
