#include "os/ready_notice.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace memtrace {
namespace {

constexpr const char* kVariable = "MEMTRACE_READY_FD";

TEST(ReadyNoticeTest, one_line_is_told_and_the_descriptor_closed) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
  const UniqueFd reader(pipe[0]);
  ::setenv(kVariable, std::to_string(pipe[1]).c_str(), 1);
  auto ready = ReadyNotice::from_environment();
  ASSERT_TRUE(ready.ok());
  EXPECT_EQ(std::getenv(kVariable), nullptr)
      << "commands that memtrace starts do not answer for it";
  EXPECT_EQ(::fcntl(pipe[1], F_GETFD), FD_CLOEXEC);
  std::array<char, 64> bytes{};
  EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), -1) << "nothing is told yet";
  ready.value().tell();
  EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), 10);
  EXPECT_EQ(std::string(bytes.data()), "recording\n");
  EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), 0) << "closed";
  ready.value().tell();
}

TEST(ReadyNoticeTest, nobody_needs_to_wait) {
  ::unsetenv(kVariable);
  auto ready = ReadyNotice::from_environment();
  ASSERT_TRUE(ready.ok());
  ready.value().tell();
}

TEST(ReadyNoticeTest, variable_that_names_no_open_descriptor_is_a_usage_error) {
  for (const char* value : {"", "x", "9x", "-1", "1", "1000000"}) {
    ::setenv(kVariable, value, 1);
    const auto ready = ReadyNotice::from_environment();
    ASSERT_FALSE(ready.ok()) << value;
    EXPECT_EQ(ready.error().kind, ErrorKind::Usage);
  }
}

}  // namespace
}  // namespace memtrace
