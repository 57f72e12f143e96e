#include "symbolize/elf/build_id.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/own_code.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(BuildId, is_the_content_of_the_note_section) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file.ok());
  const auto section = file.value().section(".note.gnu.build-id");
  if (!section) {
    GTEST_SKIP() << "this toolchain writes no build ids";
  }
  const auto note = section->content();
  EXPECT_EQ(read_build_id("/proc/self/exe"), to_hex(note.subspan(16)));
  EXPECT_EQ(read_build_id("/proc/self/exe"), build_id_in_notes(note));
  EXPECT_GE(read_build_id("/proc/self/exe").size(), 16U);
}

TEST(BuildId, of_what_is_no_elf_file_is_empty) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_build_id("/nonexistent"), "");
  EXPECT_EQ(read_build_id("/dev/null"), "");
  EXPECT_EQ(read_build_id("/tmp"), "");
  EXPECT_EQ(read_build_id(folder.write("text", "plain text")), "");
  EXPECT_EQ(read_build_id(folder.write("empty", "")), "");
}

TEST(BuildId, is_found_behind_other_notes) {
  const std::string_view other("\x04\0\0\0\x02\0\0\0\x07\0\0\0Xen\0ab\0\0", 20);
  const std::string_view wanted("\x04\0\0\0\x02\0\0\0\x03\0\0\0GNU\0\xab\xcd\0\0", 20);
  EXPECT_EQ(build_id_in_notes(as_bytes(std::string(other) + std::string(wanted))), "abcd");
  EXPECT_EQ(build_id_in_notes(as_bytes(other)), "");
  EXPECT_EQ(build_id_in_notes(as_bytes(wanted.substr(0, 13))), "");
  EXPECT_EQ(build_id_in_notes({}), "");
}

TEST(BuildId, zeros_at_the_end_are_padding) {
  EXPECT_TRUE(same_build_id("abcd", "abcd"));
  EXPECT_TRUE(same_build_id("abcd0000", "abcd"));
  EXPECT_FALSE(same_build_id("abcd0001", "abcd"));
  EXPECT_FALSE(same_build_id("", "abcd"));
}

}  // namespace
}  // namespace memtrace
