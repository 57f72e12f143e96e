#include "observe/files/mounts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace memtrace {
namespace {

TEST(Mounts, lines_are_read_and_torn_ones_passed_over) {
  const auto mounts = parse_mounts(
      "27 1 254:0 / /mnt\\040point rw,relatime shared:1 - ext4 /dev/vda rw,quota\n"
      "26 24 0:23 /part /bound rw - tmpfs tmpfs\n"
      "x 24 0:23 / /bound rw - tmpfs tmpfs rw\n"
      "28 24 0:x / /bound rw - tmpfs tmpfs rw\n"
      "torn 0:9\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].id, 27U);
  EXPECT_EQ(mounts[0].device_major, 254U);
  EXPECT_EQ(mounts[0].path, "/mnt point");
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].options, "rw,quota");
  EXPECT_TRUE(mounts[0].is_whole);
  EXPECT_EQ(mounts[1].device_minor, 23U);
  EXPECT_EQ(mounts[1].options, "");
  EXPECT_FALSE(mounts[1].is_whole);
  EXPECT_TRUE(parse_mounts("").empty());
}

TEST(Mounts, layers_of_an_overlay) {
  Mount mount{.type = "overlay", .options = "rw,lowerdir=/a:/b,upperdir=/c,workdir=/w"};
  auto layers = overlay_layers(mount);
  std::ranges::sort(layers);
  EXPECT_EQ(layers, (std::vector<std::string>{"/a", "/b", "/c"}));
  mount.type = "ext4";
  EXPECT_TRUE(overlay_layers(mount).empty());
}

TEST(Mounts, a_descriptor_says_which_mount_its_file_is_on) {
  EXPECT_EQ(mount_of_descriptor("pos:\t0\nflags:\t02\nmnt_id:\t27\nino:\t9\n"), 27U);
  EXPECT_EQ(mount_of_descriptor("pos:\t0\nflags:\t02\n"), std::nullopt);
  EXPECT_EQ(mount_of_descriptor("mnt_id:\tx\n"), std::nullopt);
}

}  // namespace
}  // namespace memtrace
