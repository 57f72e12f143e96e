// The ELF files that a target executes code from: where its allocators are looked for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/live/mapping_watch.h"
#include "perf/target/target.h"

namespace memtrace {

struct TargetObject {
  std::string path;         // opens the file from here
  std::string mapped_path;  // as the target knows it
  bool is_program = false;  // what a process executes; else a library, or a dynamic loader
};

// Each file once, whatever it is called. Of a command: the programs that it will execute and the
// libraries that their own dynamic loaders say they will load. Error: no such process or command.
Result<std::vector<TargetObject>> objects_of(const Target& target);

// The objects of one process as it is now; empty when it is gone.
std::vector<TargetObject> objects_of_process(std::uint32_t pid);

// The file of a mapping that was made just now; nothing when it cannot be found any more, or is
// another file by now.
std::optional<TargetObject> object_of_mapping(const NewMapping& mapping);

// The names that a mapped file may have.
struct MappedFile {
  std::string exact;   // in /proc/PID/map_files
  std::string mapped;  // as the process knows it, maybe in another mount namespace
  std::string rooted;  // the same, below the process's root
  std::uint64_t inode = 0;
};

// The shortest name that opens the file from here. It may have been deleted or replaced since.
// /proc/PID/map_files is missing on RHEL 6 and where the kernel lacks CONFIG_CHECKPOINT_RESTORE
// (before Linux 4.3), and is root's; then the file is known by its inode.
std::string path_from_here(const MappedFile& file);

// Files by what they are, whatever they are called.
class FileSet {
 public:
  // False: the file is in the set already, or is none.
  bool insert(const std::string& path);

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> ids_;  // device and inode
};

// The object of that name: a path, of any file, or a library's name as "libc.so.6" or "libc".
// Error: Usage, none, with the nearest names.
Result<TargetObject> find_object(const std::vector<TargetObject>& objects, const std::string& name);

}  // namespace memtrace
