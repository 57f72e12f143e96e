#include "state/world/file_names.h"

#include <gtest/gtest.h>

#include "state/world/world.h"

namespace memtrace {
namespace {

Facts named(std::uint64_t inode, const std::string& path) {
  return {.numbers = {{"major", 254}, {"minor", 1}, {"inode", inode}}, .texts = {{"path", path}}};
}

TEST(FileNames, read_names_come_before_those_of_mappings) {
  World world(World::Options{.track_mappings = true});
  world.announce({.pid = 5,
                  .tid = 5,
                  .range = {.start = 0x1000, .limit = 0x2000},
                  .area = {.kind = AreaKind::File,
                           .path = world.strings().intern("/before"),
                           .major = 254,
                           .minor = 1,
                           .inode = 9}});
  EXPECT_EQ(FileNames(world).of({254, 1, 9}), "/before");
  world.observations().add({.reader = "files", .rows = {named(9, "/renamed"), named(8, "/read")}});
  world.observations().add({.reader = "sizes", .time_ns = 1, .rows = {named(7, "/other")}});
  const FileNames names(world);
  EXPECT_EQ(names.of({254, 1, 9}), "/renamed");
  EXPECT_EQ(names.of({254, 1, 8}), "/read");
  EXPECT_EQ(names.of({254, 1, 7}), "device 254:1 inode 7");
}

TEST(FileNames, device_of_a_block_device_is_read_and_others_are_not) {
  EXPECT_EQ(file_on("254:16", 9), (FileId{254, 16, 9}));
  for (const char* device : {"btrfs-1", "(unknown)", "", "254", "254:", "1:2:3"}) {
    EXPECT_EQ(file_on(device, 9), std::nullopt) << device;
  }
}

}  // namespace
}  // namespace memtrace
