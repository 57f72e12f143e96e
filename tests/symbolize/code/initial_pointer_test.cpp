#include "symbolize/code/initial_pointer.h"

#include <gtest/gtest.h>

#include "symbolize/code/function_table.h"

// As glibc's __malloc_hook is malloc_hook_ini.
extern "C" {
int pointed_at(int number) {
  return number + 1;
}

int (*pointing_variable)(int) = &pointed_at;
int (*null_variable)(int) = nullptr;
}

namespace memtrace {
namespace {

constexpr const char* kOwnFile = "/proc/self/exe";

TEST(InitialPointer, leads_to_the_function_that_initializes_the_variable) {
  const auto file = ElfFile::open(kOwnFile);
  ASSERT_TRUE(file.ok());
  const auto table = FunctionTable::load(kOwnFile);
  ASSERT_TRUE(table.ok());
  const auto functions = table.value().find("pointed_at");
  ASSERT_TRUE(functions.ok());
  ASSERT_EQ(functions.value().size(), 1U);
  EXPECT_EQ(pointing_variable(1), 2);
  EXPECT_EQ(initial_target(file.value(), "pointing_variable"),
            functions.value().front().file_offset);
}

TEST(InitialPointer, is_nothing_for_null_and_for_what_is_not_there) {
  const auto file = ElfFile::open(kOwnFile);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(null_variable, nullptr);
  EXPECT_FALSE(initial_target(file.value(), "null_variable"));
  EXPECT_FALSE(initial_target(file.value(), "no_such_variable"));
}

}  // namespace
}  // namespace memtrace
