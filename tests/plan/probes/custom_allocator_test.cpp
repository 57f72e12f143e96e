#include "plan/probes/custom_allocator.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(CustomAllocator, a_name_alone_takes_its_first_argument) {
  const auto alloc = parse_custom_function("pool_take", HeapOp::Alloc);
  ASSERT_TRUE(alloc.ok());
  EXPECT_EQ(alloc.value().name, "pool_take");
  EXPECT_EQ(alloc.value().role.size, 0);
  EXPECT_TRUE(alloc.value().role.returns_block);
  const auto free = parse_custom_function("pool_give", HeapOp::Free);
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(free.value().role.ptr, 0);
  EXPECT_FALSE(free.value().role.returns_block);
}

TEST(CustomAllocator, arguments_say_their_places) {
  const auto alloc =
      parse_custom_function("libpool.so:take( size=arg3, count=arg2 )->ptr", HeapOp::Alloc);
  ASSERT_TRUE(alloc.ok());
  EXPECT_EQ(alloc.value().path, "libpool.so");
  EXPECT_EQ(alloc.value().name, "take");
  EXPECT_EQ(alloc.value().role.size, 2);
  EXPECT_EQ(alloc.value().role.count, 1);
  EXPECT_EQ(alloc.value().role.op, HeapOp::Alloc);
}

TEST(CustomAllocator, a_pointer_makes_an_allocation_one_that_resizes) {
  const auto alloc = parse_custom_function("grow(ptr=arg1,size=arg2)", HeapOp::Alloc);
  ASSERT_TRUE(alloc.ok());
  EXPECT_EQ(alloc.value().role.op, HeapOp::Realloc);
}

TEST(CustomAllocator, a_cpp_name_is_no_file) {
  const auto alloc = parse_custom_function("Pool::take(size=arg2)", HeapOp::Alloc);
  ASSERT_TRUE(alloc.ok());
  EXPECT_EQ(alloc.value().path, "");
  EXPECT_EQ(alloc.value().name, "Pool::take");
}

TEST(CustomAllocator, what_cannot_be_understood_is_a_usage_error) {
  for (const char* text :
       {"", "f(", "f(size)", "f(size=7)", "f(size=arg7)", "f(what=arg1)", "f()"}) {
    const auto parsed = parse_custom_function(text, HeapOp::Alloc);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Usage);
  }
}

}  // namespace
}  // namespace memtrace
