#include "programs/target_objects.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"
#include "programs/command_programs.h"

namespace memtrace {
namespace {

// The first path by which a file is met stays.
class ObjectList {
 public:
  void add(TargetObject object) {
    if (seen_.insert(object.path)) {
      objects_.push_back(std::move(object));
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

bool has_inode(const std::string& path, std::uint64_t inode) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && status.st_ino == inode;
}

void add_mapping(ObjectList& objects, std::uint32_t pid, const MapsLine& line) {
  if (!line.executable() || !line.path.starts_with('/')) {
    return;
  }
  const std::string mapped = without_deleted(line.path);
  const std::string here = path_from_here({.exact = map_files_path(pid, line.start, line.limit),
                                           .mapped = mapped,
                                           .rooted = proc_path(pid, "root") + mapped,
                                           .inode = line.inode});
  objects.add({here, mapped, !is_loader_name(mapped) && is_same_file(here, proc_path(pid, "exe"))});
}

void add_process(ObjectList& objects, std::uint32_t pid) {
  const std::string maps = proc_text(pid, "maps");
  for (const std::string_view text : split(maps, '\n')) {
    if (const auto line = parse_maps_line(text)) {
      add_mapping(objects, pid, *line);
    }
  }
}

// A program of the command and the libraries that are loaded with it.
void add_program(ObjectList& objects, const CommandProgram& program) {
  objects.add({program.root + program.path, program.path, !is_loader_name(program.path)});
  for (const std::string& library : libraries_of(program)) {
    objects.add({program.root + library, library});
  }
}

// What execvp(3) will say of a command that is no program.
int why_not_run(const std::string& name) {
  if (name.find('/') == std::string::npos) {
    return ENOENT;
  }
  return ::access(name.c_str(), X_OK) != 0 ? errno : EACCES;  // a directory, a device
}

// "libc" is libc.so.6 or libc-2.17.so.
bool is_library_named(std::string_view path, std::string_view name) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file == name || (file.starts_with(name) && (file.substr(name.size()).starts_with(".so") ||
                                                     file.substr(name.size()).starts_with("-")));
}

}  // namespace

std::string path_from_here(const MappedFile& file) {
  if (!path_exists(file.exact)) {
    return has_inode(file.mapped, file.inode)   ? file.mapped
           : has_inode(file.rooted, file.inode) ? file.rooted
                                                : file.exact;
  }
  return is_same_file(file.mapped, file.exact)   ? file.mapped
         : is_same_file(file.rooted, file.exact) ? file.rooted
                                                 : file.exact;
}

bool FileSet::insert(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ids_.insert({status.st_dev, status.st_ino}).second;
}

std::optional<TargetObject> object_of_mapping(const NewMapping& mapping) {
  const std::string exact = map_files_path(mapping.pid, mapping.start, mapping.end);

  struct stat status {};

  if (::stat(exact.c_str(), &status) == 0) {
    const std::string rooted = proc_path(mapping.pid, "root") + mapping.path;
    return TargetObject{path_from_here({exact, mapping.path, rooted, mapping.inode}), mapping.path};
  }
  // The process has ended already, or called execve(2): others may run the same file.
  if (::stat(mapping.path.c_str(), &status) != 0 || status.st_ino != mapping.inode) {
    return std::nullopt;
  }
  return TargetObject{mapping.path, mapping.path};
}

Result<TargetObject> find_object(const std::vector<TargetObject>& objects,
                                 const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!path_exists(name)) {
      return Error{"no file " + name,
                   0,
                   "for a process in a container, name it as /proc/PID/root/PATH",
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
    const auto programs = command_programs(target.command);
    if (programs.empty()) {
      const std::string& name = target.command.front();
      return cannot_run(name, why_not_run(name));
    }
    for (const CommandProgram& program : programs) {
      add_program(objects, program);
    }
  }
  std::vector<std::uint32_t> pids = target.ids;
  if (target.kind == TargetKind::System) {
    auto all = process_ids();
    pids = all.ok() ? all.take() : std::vector<std::uint32_t>();
  }
  for (const std::uint32_t pid : pids) {
    add_process(objects, pid);
  }
  return objects.take();
}

}  // namespace memtrace
