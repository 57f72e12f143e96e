#include "os/guarded_thread.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

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

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    return error_of_exception();
  }
  return Error{"", 0, ""};
}

TEST(GuardedThread, only_what_more_memory_cures_has_that_hint) {
  EXPECT_NE(error_of([] { throw std::bad_alloc(); }).hint.find("memory.max"), std::string::npos);
  const Error threads = error_of([] {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  EXPECT_NE(threads.hint.find("pids.max"), std::string::npos) << threads.hint;
  const Error other = error_of([] { throw std::out_of_range("beyond"); });
  EXPECT_EQ(other.message, "beyond");
  EXPECT_NE(other.hint.find("report it"), std::string::npos) << other.hint;
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
