#include "perf/target/huge_mappings.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace memtrace {
namespace {

constexpr const char* kMountinfo =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "31 22 0:27 / /dev/hugepages rw,relatime shared:14 - hugetlbfs hugetlbfs rw,pagesize=2M\n"
    "40 22 0:35 / /tmp rw - tmpfs tmpfs rw\n";

constexpr const char* kSmaps =
    "7f0000000000-7f0000400000 rw-s 00000000 00:0d 32768            /SYSV00000000 (deleted)\n"
    "Size:               4096 kB\n"
    "KernelPageSize:     2048 kB\n"
    "MMUPageSize:        2048 kB\n"
    "VmFlags: rd wr sh mr mw me ms de ht\n"
    "7f0000400000-7f0000401000 rw-p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n";

TEST(HugeMappingsTest, file_system_of_a_device_is_behind_the_optional_fields) {
  EXPECT_EQ(filesystem_of_device(kMountinfo, 0, 27), "hugetlbfs");
  EXPECT_EQ(filesystem_of_device(kMountinfo, 0, 35), "tmpfs");
  EXPECT_EQ(filesystem_of_device(kMountinfo, 254, 0), "ext4");
  EXPECT_EQ(filesystem_of_device(kMountinfo, 0, 2), "") << "not the beginning of 0:27";
  EXPECT_EQ(filesystem_of_device("", 0, 27), "");
}

TEST(HugeMappingsTest, size_of_pages_is_that_of_the_mapping_asked_for) {
  EXPECT_EQ(page_bytes_in_smaps(kSmaps, 0x7f0000000000), 2048U * 1024);
  EXPECT_EQ(page_bytes_in_smaps(kSmaps, 0x7f0000400000), 4096U);
  EXPECT_EQ(page_bytes_in_smaps(kSmaps, 0x7f0000500000), 0U);
}

TEST(HugeMappingsTest, files_on_disks_and_anonymous_memory_are_small) {
  HugeMappings huge;
  const auto pid = static_cast<std::uint32_t>(::getpid());
  EXPECT_FALSE(huge.contains({.pid = pid, .major = 254, .inode = 7, .path = "/usr/bin/a"}));
  EXPECT_FALSE(huge.contains({.pid = pid, .path = "//anon"}));
  EXPECT_TRUE(huge.contains({.pid = pid, .path = "/anon_hugepage (deleted)"}));
}

}  // namespace
}  // namespace memtrace
