#include "os/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace memtrace {
namespace {

int open_null() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

TEST(UniqueFd, the_descriptor_is_closed_with_its_owner) {
  const int fd = open_null();
  {
    const UniqueFd owner(fd);
    EXPECT_TRUE(owner.valid());
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, moving_passes_the_descriptor_on) {
  UniqueFd first(open_null());
  const int fd = first.get();
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): an empty owner by contract
  EXPECT_EQ(second.get(), fd);
  EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, assigning_closes_what_was_held) {
  UniqueFd owner(open_null());
  const int old_fd = owner.get();
  UniqueFd other(open_null());
  const int new_fd = other.get();
  owner = std::move(other);
  EXPECT_FALSE(is_open(old_fd));
  EXPECT_TRUE(is_open(new_fd));
}

TEST(UniqueFd, releasing_gives_up_and_resetting_closes) {
  UniqueFd owner(open_null());
  const int fd = owner.release();
  EXPECT_FALSE(owner.valid());
  EXPECT_TRUE(is_open(fd));
  owner.reset(fd);
  owner.reset();
  EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, a_descriptor_is_no_number) {
  EXPECT_FALSE((std::is_convertible_v<int, UniqueFd>));
  EXPECT_FALSE((std::is_convertible_v<UniqueFd, int>));
  EXPECT_FALSE(std::is_copy_constructible_v<UniqueFd>);
}

}  // namespace
}  // namespace memtrace
