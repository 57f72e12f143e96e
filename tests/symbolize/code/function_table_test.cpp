#include "symbolize/code/function_table.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "support/own_code.h"

namespace memtrace {
namespace {

extern "C" [[gnu::noinline, gnu::used]] int function_table_target(int value) noexcept {
  asm volatile("" : "+r"(value));
  return value + 1;
}

extern "C" [[gnu::alias("function_table_target"), gnu::used]] int __function_table_alias(
    int value) noexcept;

struct TableTarget {
  [[gnu::noinline, gnu::used]] static int take(int value) {
    asm volatile("" : "+r"(value));
    return value + 2;
  }
};

std::string own_path() {
  return mapped_place(address_of(&function_table_target)).path;
}

FunctionTable own_table() {
  return FunctionTable::load(own_path()).take();
}

TEST(function_table, file_offsets_are_those_that_mappings_show) {
  const auto found = own_table().find("function_table_target");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found.value().size(), 1U);
  const auto place = mapped_place(address_of(&function_table_target));
  EXPECT_EQ(found.value()[0].file_offset, place.file_offset);
  EXPECT_FALSE(found.value()[0].is_ifunc);
  const auto code =
      code_bytes(own_path(), found.value()[0].file_offset, found.value()[0].size_bytes);
  ASSERT_TRUE(code.ok());
  ASSERT_FALSE(code.value().empty());
  EXPECT_EQ(std::memcmp(code.value().data(),
                        reinterpret_cast<const void*>(&function_table_target),
                        code.value().size()),
            0);
}

TEST(function_table, aliases_are_one_function_with_all_names) {
  const auto found = own_table().find("__function_table_alias");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().at(0).names,
            (std::vector<std::string>{"function_table_target", "__function_table_alias"}));
  EXPECT_EQ(own_table().find("*function_table_?????").value().size(), 1U);
}

TEST(function_table, cpp_names_are_found_as_people_write_them) {
  EXPECT_EQ(TableTarget::take(1), 3);
  const auto found = own_table().find("memtrace::(anonymous*)::TableTarget::take");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().size(), 1U);
}

TEST(function_table, unknown_name_gets_the_nearest_ones) {
  const auto found = own_table().find("function_table_targte");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::Usage);
  EXPECT_NE(found.error().hint.find("function_table_target"), std::string::npos);
}

TEST(function_table, libc_names_have_no_versions_and_ifuncs_are_marked) {
  // A function that sanitizers leave alone, unlike malloc.
  const auto place = mapped_place(address_of(&::gnu_get_libc_version));
  const std::string& libc = place.path;
  const auto table = FunctionTable::load(libc);
  ASSERT_TRUE(table.ok());
  const auto found = table.value().find("gnu_get_libc_version");
  ASSERT_TRUE(found.ok()) << libc;
  EXPECT_EQ(found.value()[0].file_offset, place.file_offset);
  EXPECT_GT(found.value()[0].size_bytes, 0U);
  const auto copy = table.value().find("memcpy");
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE(copy.value()[0].is_ifunc);
}

TEST(function_table, programs_without_symbols_say_how_they_are_linked) {
  const TemporaryFolder folder;
  folder.write("main.c", "int main(void) { return 0; }");
  const std::string program = folder.path("main");
  const std::string build = "cc -s -static -o " + program + " " + folder.path("main.c");
  if (std::system((build + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "needs a C compiler and a static libc";
  }
  const auto table = FunctionTable::load(program);
  ASSERT_TRUE(table.ok());
  const auto found = table.value().find("malloc");
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("statically linked"), std::string::npos);
}

TEST(function_table, what_cannot_be_read_is_an_error) {
  EXPECT_FALSE(FunctionTable::load("/nowhere").ok());
  EXPECT_FALSE(code_bytes("/nowhere", 0, 1).ok());
  EXPECT_FALSE(code_bytes(own_path(), std::uint64_t{1} << 40U, 16).ok());
}

}  // namespace
}  // namespace memtrace
