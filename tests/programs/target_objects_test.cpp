#include "programs/target_objects.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "os/unique_fd.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

bool has_file(const std::vector<TargetObject>& objects, std::string_view start) {
  return std::any_of(objects.begin(), objects.end(), [start](const TargetObject& object) {
    return std::string_view(object.mapped_path)
        .substr(object.mapped_path.rfind('/') + 1)
        .starts_with(start);
  });
}

TEST(TargetObjects, of_this_process_are_its_program_and_libraries) {
  const auto objects = objects_of_process(static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE(has_file(objects, "programs_test"));
  EXPECT_TRUE(has_file(objects, "libc.so"));
}

// As on a kernel without /proc/PID/map_files.
TEST(TargetObjects, a_file_is_known_by_its_inode_where_nothing_else_tells) {
  const test::TempDir dir;
  const std::string path = dir.path() + "/mapped";
  std::ofstream(path) << "x";

  struct stat status {};

  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  const std::string none = dir.path() + "/none";
  EXPECT_EQ(path_from_here({none, path, none, status.st_ino}), path);
  EXPECT_EQ(path_from_here({none, none, path, status.st_ino}), path);
  EXPECT_EQ(path_from_here({none, path, path, status.st_ino + 1}), none) << "another file";
  EXPECT_EQ(path_from_here({path, none, path, 0}), path) << "what map_files says is right";
}

// maps writes the addresses of a program that is not position-independent with zeros in front.
TEST(TargetObjects, a_file_at_a_low_address_is_found) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "/proc/PID/map_files is root's";
  }
  const test::TempDir dir;
  const std::string path = dir.path() + "/low";
  std::ofstream(path) << std::string(4096, 'x');
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const low = ::mmap(reinterpret_cast<void*>(0x400000),
                           4096,
                           PROT_READ | PROT_EXEC,
                           MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                           fd.get(),
                           0);
  if (low == MAP_FAILED) {
    GTEST_SKIP() << "something lies there";
  }
  EXPECT_TRUE(has_file(objects_of_process(static_cast<std::uint32_t>(::getpid())), "low"));
  ::munmap(low, 4096);
}

TEST(TargetObjects, of_a_command_are_what_its_loader_will_load) {
  const auto objects = objects_of({.kind = TargetKind::Command, .command = {"sh"}});
  ASSERT_TRUE(objects.ok());
  EXPECT_TRUE(has_file(objects.value(), "libc.so"));
}

TEST(TargetObjects, of_a_script_are_its_interpreters) {
  const test::TempDir dir;
  const std::string script = dir.path() + "/script";
  std::ofstream(script) << "#!/usr/bin/env sh\ntrue\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto objects = objects_of({.kind = TargetKind::Command, .command = {script}});
  ASSERT_TRUE(objects.ok());
  EXPECT_TRUE(has_file(objects.value(), "env"));
  EXPECT_TRUE(has_file(objects.value(), "sh") || has_file(objects.value(), "dash"));
}

TEST(TargetObjects, a_command_that_cannot_be_run_is_an_error) {
  struct Case {
    std::string command;
    int errno_value;
    std::string hint;
  };

  for (const Case& one : {Case{"no-such-program", ENOENT, "in $PATH"},
                          Case{"./no-such-program", ENOENT, "is its path right"},
                          Case{"/etc/passwd", EACCES, "executable"},
                          Case{"/etc", EACCES, "executable"}}) {
    const auto objects = objects_of({.kind = TargetKind::Command, .command = {one.command}});
    ASSERT_FALSE(objects.ok()) << one.command;
    EXPECT_EQ(objects.error().message, "cannot run '" + one.command + "'");
    EXPECT_EQ(objects.error().errno_value, one.errno_value) << one.command;
    EXPECT_NE(objects.error().hint.find(one.hint), std::string::npos) << objects.error().hint;
  }
}

// The code of this very function, as a mmap record would tell of it.
NewMapping own_mapping() {
  std::ifstream maps("/proc/self/maps");
  NewMapping mapping{.pid = static_cast<std::uint32_t>(::getpid())};
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    char dash = 0;
    std::string permissions;
    std::string skipped;
    words >> std::hex >> mapping.start >> dash >> mapping.end >> permissions >> skipped >> skipped;
    words >> std::dec >> mapping.inode >> mapping.path;
    const auto here = reinterpret_cast<std::uintptr_t>(&own_mapping);
    if (mapping.start <= here && here < mapping.end) {
      break;
    }
  }
  return mapping;
}

TEST(TargetObjects, file_of_a_mapping_is_found_while_its_process_lives_and_afterwards) {
  NewMapping mapping = own_mapping();
  auto object = object_of_mapping(mapping);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->mapped_path, mapping.path);
  FileSet files;
  EXPECT_TRUE(files.insert(object->path));
  mapping.pid = 0x7ffffffe;  // gone
  object = object_of_mapping(mapping);
  ASSERT_TRUE(object);
  EXPECT_FALSE(files.insert(object->path));
  ++mapping.inode;  // another file has the name by now
  EXPECT_FALSE(object_of_mapping(mapping));
  EXPECT_FALSE(files.insert("/nonexistent"));
}

}  // namespace
}  // namespace memtrace
