#include "programs/command_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;

class CommandProgramsTest : public testing::Test {
 protected:
  // A copy of a program that is linked with libc, by a path of our own.
  std::string place_program(const std::string& path) const {
    const fs::path place = dir_.path() + path;
    fs::create_directories(place.parent_path());
    fs::copy_file(fs::canonical("/bin/sh"), place);
    return place;
  }

  static std::vector<std::string> paths_of(std::vector<std::string> words) {
    std::vector<std::string> paths;
    for (const CommandProgram& program : command_programs(words)) {
      paths.push_back(program.root + program.path);
    }
    return paths;
  }

  static bool has_libc(const CommandProgram& program) {
    const auto libraries = libraries_of(program);
    return std::ranges::any_of(libraries, [](const std::string& library) {
      return library.substr(library.rfind('/') + 1).starts_with("libc.so");
    });
  }

  test::TempDir dir_;
};

TEST(LoaderList, gives_the_paths_of_libraries) {
  const std::vector<std::string> expected = {"/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2"};
  EXPECT_EQ(parse_loader_list("\tlinux-vdso.so.1 (0x00007ffd)\n"
                              "\tlibc.so.6 => /lib/libc.so.6 (0x00007f12)\n"
                              "\tlibgone.so => not found\n"
                              "\t/lib64/ld-linux-x86-64.so.2 (0x00007f34)\n"),
            expected);
}

// The kernel tells the loader where the file itself lies, which $ORIGIN stands for.
TEST_F(CommandProgramsTest, a_symbolic_link_is_the_file_that_it_leads_to) {
  const std::string program = place_program("/real/program");
  fs::create_symlink("real/program", dir_.path() + "/link");
  EXPECT_EQ(paths_of({dir_.path() + "/link"}), std::vector{fs::canonical(program).string()});
}

TEST_F(CommandProgramsTest, what_a_launcher_becomes_is_found_behind_its_options) {
  const std::string program = place_program("/program");
  const std::string path = fs::canonical(program);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"env", "-i", "NAME=1", program, "x"},
           {"nice", "-n", "5", program},
           {"timeout", "-s", "KILL", "5", "env", "A=b", program, "sleep"},
       }) {
    EXPECT_EQ(paths_of(words).back(), path) << words.front();
  }
  EXPECT_EQ(command_programs(std::vector<std::string>{"env", "A=1", program}).back().environment,
            std::vector<std::string>{"A=1"});
}

TEST_F(CommandProgramsTest, a_program_below_chroot_is_looked_for_there) {
  place_program("/inside/bin/program");
  fs::create_directory_symlink("/bin", dir_.path() + "/inside/link");  // below the new root
  const auto programs = command_programs(
      std::vector<std::string>{"chroot", dir_.path() + "/inside", "/link/program"});
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs.back().root, fs::canonical(dir_.path() + "/inside"));
  EXPECT_EQ(programs.back().path, "/bin/program");
}

TEST_F(CommandProgramsTest, links_below_a_root_do_not_leave_it) {
  fs::create_directories(dir_.path() + "/a/b");
  std::ofstream(dir_.path() + "/a/b/file") << "x";
  fs::create_symlink("/a/b", dir_.path() + "/absolute");
  fs::create_symlink("../../../..", dir_.path() + "/a/up");
  fs::create_symlink("loop", dir_.path() + "/loop");
  EXPECT_EQ(resolve_below(dir_.path(), "/absolute/file"), "/a/b/file");
  EXPECT_EQ(resolve_below(dir_.path(), "/a/up/a/b/file"), "/a/b/file");
  EXPECT_EQ(resolve_below(dir_.path(), "a/./b/../b/file"), "/a/b/file");
  EXPECT_EQ(resolve_below(dir_.path(), "/loop"), "");
  EXPECT_EQ(resolve_below(dir_.path(), "/none"), "");
}

TEST_F(CommandProgramsTest, a_loader_called_by_its_name_is_asked_with_its_own_options) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  if (!fs::exists(loader)) {
    GTEST_SKIP() << "no " << loader << " here";
  }
  const std::string program = place_program("/program");
  const auto programs = command_programs(
      std::vector<std::string>{loader, "--library-path", "/lib/x86_64-linux-gnu:/lib64", program});
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs.back().path, fs::canonical(program));
  EXPECT_EQ(programs.back().loader.size(), 3U);
  EXPECT_TRUE(has_libc(programs.back()));
}

TEST_F(CommandProgramsTest, libc_is_found_though_another_library_is_missing) {
  // A program that wants a library which is not there: made by a linker, thus skipped without one.
  std::ofstream(dir_.path() + "/library.c") << "int given(void) { return 0; }\n";
  std::ofstream(dir_.path() + "/main.c")
      << "int given(void);\nint main(void) { return given(); }\n";
  const std::string build = "cd '" + dir_.path() +
                            "' && cc -shared -fPIC -o libgiven.so library.c && "
                            "cc -o program main.c -L. -lgiven && rm libgiven.so";
  if (std::system((build + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no C compiler here";
  }
  const auto programs = command_programs(std::vector<std::string>{dir_.path() + "/program"});
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_TRUE(has_libc(programs.front()));
}

TEST_F(CommandProgramsTest, a_script_that_interprets_itself_has_an_end) {
  const std::string script = dir_.path() + "/script";
  std::ofstream(script) << "#!" << script << "\n";
  fs::permissions(script, fs::perms::owner_all);
  EXPECT_FALSE(command_programs(std::vector<std::string>{script}).empty());
  EXPECT_TRUE(command_programs(std::vector<std::string>{dir_.path() + "/none"}).empty());
}

}  // namespace
}  // namespace memtrace
