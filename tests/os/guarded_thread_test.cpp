#include "os/guarded_thread.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace memtrace {
namespace {

TEST(GuardedThread, exception_ends_the_thread_alone_and_is_told) {
  EXPECT_FALSE(has_failed_thread());
  EXPECT_EQ(thread_failure(), "");
  bool was_lost = false;
  std::thread thread =
      start_guarded_thread([] { throw std::bad_alloc(); }, [&was_lost] { was_lost = true; });
  thread.join();
  EXPECT_TRUE(was_lost);
  EXPECT_TRUE(has_failed_thread());
  start_guarded_thread([] { throw std::runtime_error("later"); }).join();
  EXPECT_EQ(thread_failure(), "out of memory");
}

TEST(GuardedThread, exceptions_have_words) {
  try {
    throw std::length_error("too long");
  } catch (...) {
    EXPECT_EQ(describe_exception(), "too long");
  }
}

}  // namespace
}  // namespace memtrace
