// A file is believed to be a module only when it is the one that was mapped.
#include "symbolize/elf/module_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "os/unique_fd.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

constexpr std::uint32_t kGone = 0x7ffffffe;

class ModuleFileTest : public testing::Test {
 protected:
  // A copy of this program, below the folder.
  std::string place(const std::string& path) const {
    const std::filesystem::path whole = dir_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::copy_file("/proc/self/exe", whole);
    return whole;
  }

  static FileNumbers numbers_of(const std::string& path) {
    struct stat status {};

    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return {.major = major(status.st_dev), .minor = minor(status.st_dev), .inode = status.st_ino};
  }

  std::string found(const ModuleDescription& module) {
    const auto file = find_module_file(module, {}, caveats_);
    return file ? file->path() : "";
  }

  test::TempDir dir_;
  SymbolCaveats caveats_;
};

TEST_F(ModuleFileTest, another_file_of_the_same_path_is_not_the_module) {
  const std::string path = place("/library");
  ModuleDescription module{.kind = ModuleKind::File, .path = path, .file = numbers_of(path)};
  EXPECT_EQ(found(module), path);
  ++module.file.inode;
  EXPECT_EQ(found(module), "");
  ASSERT_EQ(caveats_.sentences().size(), 1U);
  EXPECT_NE(caveats_.sentences().front().find("not the file that its process mapped"),
            std::string::npos);
}

TEST_F(ModuleFileTest, below_the_root_of_its_process_it_is_found_after_the_end) {
  const std::string outside = place("/library");
  const std::string inside = place("/root" + outside);
  const ModuleDescription module{.kind = ModuleKind::File,
                                 .path = outside,
                                 .pid = kGone,
                                 .root = dir_.path() + "/root",
                                 .file = numbers_of(inside)};
  EXPECT_EQ(found(module), inside);
}

// As in another mount namespace: no path leads to it, and the records of the mapping have another.
TEST_F(ModuleFileTest, a_mapped_file_without_a_path_is_found_by_its_numbers) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "/proc/PID/map_files is root's";
  }
  const ModuleDescription module{.kind = ModuleKind::File,
                                 .path = "/elsewhere/program",
                                 .pid = static_cast<std::uint32_t>(::getpid()),
                                 .file = numbers_of("/proc/self/exe")};
  EXPECT_NE(found(module).find("/map_files/"), std::string::npos);
}

// As a program that is not position-independent.
TEST_F(ModuleFileTest, a_removed_file_at_a_low_address_is_found) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "/proc/PID/map_files is root's";
  }
  const std::string path = place("/low");
  const FileNumbers numbers = numbers_of(path);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const low = ::mmap(reinterpret_cast<void*>(0x400000),
                           4096,
                           PROT_READ,
                           MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                           fd.get(),
                           0);
  if (low == MAP_FAILED) {
    GTEST_SKIP() << "something lies there";
  }
  std::filesystem::remove(path);
  for (const FileNumbers& known : {numbers, FileNumbers{}}) {
    const ModuleDescription module{.kind = ModuleKind::File,
                                   .path = path,
                                   .pid = static_cast<std::uint32_t>(::getpid()),
                                   .file = known};
    EXPECT_NE(found(module).find("/map_files/400000-"), std::string::npos) << known.inode;
  }
  ::munmap(low, 4096);
}

}  // namespace
}  // namespace memtrace
