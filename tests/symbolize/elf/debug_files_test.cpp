#include "symbolize/elf/debug_files.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/own_code.h"
#include "symbolize/names/symbolizer.h"

namespace memtrace {
namespace {

[[gnu::noinline]] int function_of_stripped_file(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Makes stripped copies of this program with the tools of binutils, and names a function in them.
class StrippedCopy : public testing::Test {
 protected:
  void SetUp() override {
    const auto place = mapped_place(address_of(&function_of_stripped_file));
    original_ = place.path;
    offset_ = place.file_offset;
    if (std::system("command -v objcopy strip xz nm > /dev/null") != 0) {
      GTEST_SKIP() << "needs objcopy, strip, nm and xz";
    }
    ASSERT_EQ(function_of_stripped_file(3), 3);
    run("strip --strip-all -o " + copy() + " " + original_);
  }

  std::string copy() const { return folder_.path("copy"); }

  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " 2> /dev/null").c_str()), 0) << command;
  }

  // What the folder has no debug file for must not be found in the machine's.
  std::vector<FrameName> name(const ModuleDescription& module) {
    return symbolizer_.name(ModuleId{1}, module, offset_);
  }

  static bool is_named(const std::vector<FrameName>& frames) {
    return frames.back().function.find("function_of_stripped_file") != std::string::npos;
  }

  TemporaryFolder folder_;
  Symbolizer symbolizer_{{.debug_directory = folder_.path("debug")}};
  std::string original_;
  std::uint64_t offset_ = 0;
};

TEST_F(StrippedCopy, without_debug_file_has_no_names) {
  const auto frames = name(file_module(copy()));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_FALSE(is_named(frames));
  EXPECT_EQ(frames[0].module, "copy");
}

TEST_F(StrippedCopy, is_named_from_the_file_that_its_debug_link_names) {
  run("objcopy --only-keep-debug " + original_ + " " + folder_.path("copy.debug"));
  run("cd " + folder_.path("") + " && objcopy --add-gnu-debuglink=copy.debug copy");
  const auto frames = name(file_module(copy()));
  EXPECT_TRUE(is_named(frames));
  EXPECT_TRUE(frames.back().file.ends_with("debug_files_test.cpp")) << frames.back().file;
}

TEST_F(StrippedCopy, is_named_from_a_debug_link_without_build_ids_when_the_checksum_is_right) {
  const std::string no_id = " --remove-section=.note.gnu.build-id ";
  run("objcopy --strip-debug" + no_id + original_ + " " + folder_.path(".debug-source"));
  run("mkdir " + folder_.path(".debug") + " && mv " + folder_.path(".debug-source") + " " +
      folder_.path(".debug/copy.debug"));
  run("objcopy" + no_id + "--add-gnu-debuglink=" + folder_.path(".debug/copy.debug") + " " +
      copy());
  EXPECT_TRUE(is_named(name(file_module(copy()))));
  run("printf x >> " + folder_.path(".debug/copy.debug"));
  Symbolizer other({.debug_directory = folder_.path("debug")});
  EXPECT_FALSE(is_named(other.name(ModuleId{1}, file_module(copy()), offset_)));
}

TEST_F(StrippedCopy, is_named_from_the_debug_directory_by_build_id) {
  const std::string id = read_build_id(original_);
  const std::string file =
      folder_.write("debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug", "");
  run("objcopy --only-keep-debug " + original_ + " " + file);
  EXPECT_TRUE(is_named(name(file_module(copy(), id))));
}

TEST_F(StrippedCopy, that_was_removed_is_named_from_its_debug_file) {
  const std::string id = read_build_id(original_);
  const std::string file =
      folder_.write("debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug", "");
  run("objcopy --only-keep-debug " + original_ + " " + file);
  const auto frames = name(file_module(folder_.path("gone (deleted)"), id));
  EXPECT_TRUE(is_named(frames));
  EXPECT_EQ(frames.back().module, "gone");
  EXPECT_TRUE(symbolizer_.caveats().empty());
}

TEST_F(StrippedCopy, is_named_from_its_mini_debug_info) {
  const std::string mini = folder_.path("mini");
  run("objcopy -S --remove-section=.comment --keep-symbol="
      "$(nm " +
      original_ + " | sed -n 's/.* t \\(.*function_of_stripped_file.*\\)/\\1/p') " + original_ +
      " " + mini);
  run("xz -0 " + mini);
  run("objcopy --add-section .gnu_debugdata=" + mini + ".xz " + copy());
  EXPECT_TRUE(is_named(name(file_module(copy()))));
}

TEST(DebugFiles, path_is_made_of_hexadecimal_digits_only) {
  EXPECT_FALSE(find_debug_file_by_build_id("../../../../etc/passwd", {"/usr/lib/debug"}));
  EXPECT_FALSE(find_debug_file_by_build_id("", {"/usr/lib/debug"}));
  EXPECT_FALSE(find_debug_file_by_build_id("ab", {"/usr/lib/debug"}));
}

TEST(DebugFiles, checksum_is_that_of_zlib) {
  EXPECT_EQ(crc32(std::as_bytes(std::span(std::string_view("123456789")))), 0xCBF43926U);
  EXPECT_EQ(crc32({}), 0U);
}

}  // namespace
}  // namespace memtrace
