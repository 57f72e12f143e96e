#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(ShellWord, words_are_quoted_only_where_a_shell_would_read_them_otherwise) {
  EXPECT_EQ(shell_word("kmem:kmalloc"), "kmem:kmalloc");
  EXPECT_EQ(shell_word("vmscan:*"), "'vmscan:*'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a'b"), "'a'\\''b'");
}

}  // namespace
}  // namespace memtrace
