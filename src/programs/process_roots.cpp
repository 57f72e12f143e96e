#include "programs/process_roots.h"

#include "os/procfs.h"
#include "programs/command_programs.h"

namespace memtrace {

ProcessRoots::ProcessRoots(std::span<const std::string> command) {
  for (const CommandProgram& program : command_programs(command)) {
    last_ = program.root.empty() ? last_ : program.root;
  }
}

const std::string& ProcessRoots::of(std::uint32_t pid, std::uint64_t time_ns) {
  if (pid != pid_ || time_ns != time_ns_) {
    root_ = read(pid);
    pid_ = pid;
    time_ns_ = time_ns;
  }
  return root_;
}

std::string ProcessRoots::read(std::uint32_t pid) {
  std::string root = root_directory(pid);
  if (root.empty()) {
    return last_;
  }
  if (root == "/") {
    return "";
  }
  last_ = root;
  return root;
}

}  // namespace memtrace
