#include "programs/command_programs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

  // A program that asks for the loader `dir_`/loader, which leaves a file when it is run. False: no
  // C compiler here.
  bool build_with_own_loader() const {
    std::ofstream(dir_.path() + "/loader") << "#!/bin/sh\ntouch '" << dir_.path() << "/ran'\n";
    fs::permissions(dir_.path() + "/loader", fs::perms(0755));
    std::ofstream(dir_.path() + "/library.c") << "int given(void) { return 0; }\n";
    std::ofstream(dir_.path() + "/main.c")
        << "int given(void);\nint main(void) { return given(); }\n";
    const std::string build = "cd '" + dir_.path() +
                              "' && mkdir lib && cc -shared -fPIC -o lib/libgiven.so library.c && "
                              "cc -o program main.c -Llib -lgiven '-Wl,-rpath,$ORIGIN/lib' "
                              "-Wl,--dynamic-linker=" +
                              dir_.path() + "/loader 2>/dev/null";
    return std::system(build.c_str()) == 0;
  }

  static bool has_library(const CommandProgram& program, std::string_view name) {
    return std::ranges::any_of(libraries_of(program), [&](const std::string& library) {
      return library.find(name) != std::string::npos;
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

// The kernel gives the loader the place of the file itself, which $ORIGIN means.
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
           {"linux64", "setarch", "x86_64", "x86_64", "-R", program},
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

// A loader is run with our rights, and a program may name any.
TEST_F(CommandProgramsTest, loader_or_program_of_another_user_is_never_run) {
  constexpr unsigned kNobody = 65534;
  if (::geteuid() != 0 || !build_with_own_loader()) {
    GTEST_SKIP() << "chown(2) is for root, or there is no C compiler here";
  }
  const auto programs = command_programs(std::vector<std::string>{dir_.path() + "/program"});
  ASSERT_EQ(programs.size(), 1U);
  const std::string ran = dir_.path() + "/ran";
  libraries_of(programs.front());
  EXPECT_TRUE(fs::remove(ran)) << "our own is run";
  for (const std::string name : {"/loader", "/program"}) {
    ASSERT_EQ(::chown((dir_.path() + name).c_str(), kNobody, kNobody), 0);
    EXPECT_TRUE(has_library(programs.front(), "/libgiven.so")) << name;
    EXPECT_TRUE(has_library(programs.front(), "/libc.so.6")) << name;
    EXPECT_FALSE(fs::exists(ran)) << name;
    ASSERT_EQ(::chown((dir_.path() + name).c_str(), 0, 0), 0);
  }
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0777), 0);
  EXPECT_TRUE(has_library(programs.front(), "/libgiven.so"));
  EXPECT_FALSE(fs::exists(ran)) << "in a folder that all may write to";
}

TEST_F(CommandProgramsTest, libraries_of_another_user_s_program_are_those_that_it_would_load) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  auto program = command_programs(std::vector<std::string>{place_program("/program")}).front();
  const auto sorted = [](std::vector<std::string> paths) {
    for (std::string& path : paths) {
      path = fs::canonical(path);
    }
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  };
  const auto told = sorted(libraries_of(program));
  ASSERT_EQ(::chown(program.path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(sorted(libraries_of(program)), told);
  program.environment = {"LD_LIBRARY_PATH=" + dir_.path()};
  for (const std::string& library : told) {
    const std::string name = library.substr(library.rfind('/') + 1);
    if (name.starts_with("libc.so")) {
      fs::copy_file(library, dir_.path() + "/" + name);
    }
  }
  EXPECT_TRUE(has_library(program, dir_.path() + "/libc.so"));
}

TEST_F(CommandProgramsTest, loader_that_never_ends_is_ended) {
  std::ofstream(dir_.path() + "/loader") << "#!/bin/sh\ntrap '' TERM\nexec yes\n";
  fs::permissions(dir_.path() + "/loader", fs::perms(0755));
  CommandProgram program;
  program.path = place_program("/program");
  program.loader = {dir_.path() + "/loader"};
  EXPECT_FALSE(has_libc(program));
}

TEST_F(CommandProgramsTest, loader_does_not_audit_for_us) {
  std::ofstream(dir_.path() + "/loader")
      << "#!/bin/sh\necho \"libx => /$LD_AUDIT/$LD_LIBRARY_PATH/$1/$2 (0x1)\"\n";
  fs::permissions(dir_.path() + "/loader", fs::perms(0755));
  CommandProgram program;
  program.path = fs::canonical(place_program("/program"));
  program.loader = {dir_.path() + "/loader", "--audit", "x.so", "--preload", "y.so"};
  program.environment = {"LD_AUDIT=evil", "LD_LIBRARY_PATH=folder"};
  EXPECT_EQ(libraries_of(program).front(), "//folder/--preload/y.so");
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
