#include "recording/code_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace memtrace {
namespace {

class CodeNamesTest : public testing::Test {
 protected:
  CodeNamesTest() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    world_.map({.pid = pid,
                .range = {0x1000, 0x2000},
                .file_offset = 0,
                .module = {.kind = ModuleKind::File, .path = self_, .pid = pid}});
    world_.map({.pid = pid,
                .range = {0x5000, 0x6000},
                .file_offset = 0,
                .module = {.kind = ModuleKind::File, .path = "/no/such/file", .pid = pid}});
  }

  bool has_own_id(const CodeNames& names) const {
    return std::ranges::any_of(names.build_ids,
                               [this](const BuildIdEntry& entry) { return entry.path == self_; });
  }

  std::string self_ = std::filesystem::read_symlink("/proc/self/exe");
  World world_{{.stacks = StackUse::Places}};
};

TEST_F(CodeNamesTest, files_that_can_be_read_have_a_build_id) {
  CodeNamer namer(false);
  EXPECT_TRUE(namer.look_up(world_, {}, [] { return false; }));
  const CodeNames names = namer.names();
  EXPECT_TRUE(has_own_id(names));
  EXPECT_TRUE(std::ranges::none_of(names.build_ids, [](const BuildIdEntry& entry) {
    return entry.path == "/no/such/file" || entry.build_id.empty();
  }));
  EXPECT_EQ(names.symbols_json, "");
}

TEST_F(CodeNamesTest, who_does_not_want_to_wait_gets_no_files) {
  CodeNamer namer(false);
  EXPECT_FALSE(namer.look_up(world_, {}, [] { return true; }));
  EXPECT_FALSE(has_own_id(namer.names()));
  EXPECT_TRUE(namer.look_up(world_, {}, [] { return false; })) << "it goes on where it was";
  EXPECT_TRUE(has_own_id(namer.names()));
}

}  // namespace
}  // namespace memtrace
