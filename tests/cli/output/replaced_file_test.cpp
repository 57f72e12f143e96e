#include "cli/output/replaced_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/system.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

class ReplacedFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return dir_.path() + "/" + name; }

  static std::string text_in(const std::string& file) {
    const auto text = read_file(file);
    return text.ok() ? text.value() : "no file";
  }

  TempDir dir_;
};

TEST_F(ReplacedFileTest, old_file_is_replaced_whole) {
  ASSERT_TRUE(replace_file(path("a"), "long text").ok());
  ASSERT_TRUE(replace_file(path("a"), "new").ok());
  EXPECT_EQ(text_in(path("a")), "new");
}

TEST_F(ReplacedFileTest, own_link_is_written_through) {
  ASSERT_TRUE(replace_file(path("a"), "old").ok());
  ASSERT_EQ(::symlink(path("a").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(replace_file(path("link"), "new").ok());
  EXPECT_EQ(text_in(path("a")), "new");
}

TEST_F(ReplacedFileTest, link_of_another_user_is_left_alone) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can make a link of another user";
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_TRUE(replace_file(path("secret"), "old").ok());
  ASSERT_EQ(::symlink(path("secret").c_str(), path("link").c_str()), 0);
  ASSERT_EQ(::lchown(path("link").c_str(), kNobody, kNobody), 0);
  const auto made = replace_file(path("link"), "new");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("belongs to another user"), std::string::npos);
  EXPECT_EQ(text_in(path("secret")), "old");
}

}  // namespace
}  // namespace memtrace::test
