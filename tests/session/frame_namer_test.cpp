#include "session/frame_namer.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kShift = std::uint64_t{16} << 20U;  // as KASLR may move the kernel

std::uint64_t kernel_symbol(const std::string& name) {
  const auto symbols = read_file("/proc/kallsyms");
  const std::string content = symbols.ok() ? symbols.value() : "";  // split() borrows from it
  for (const std::string_view line : split(content, '\n')) {
    if (line.ends_with(" " + name)) {
      return parse_number(line.substr(0, line.find(' ')), 16).value_or(0);
    }
  }
  return 0;
}

std::string name_of(World& world, const Recording& recording, std::uint64_t avma) {
  FrameNamer naming(world, recording, false);
  return naming.location(world.intern_kernel_address(avma)).front().function;
}

class NamingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    text_ = kernel_symbol("_text");
    function_ = kernel_symbol("do_syscall_64");
    if (text_ == 0 || function_ == 0) {
      GTEST_SKIP()
          << "/proc/kallsyms shows no addresses: needs root and kernel.kptr_restrict 0 or 1";
    }
  }

  World world_{{}};
  Recording recording_;
  std::uint64_t text_ = 0;
  std::uint64_t function_ = 0;
};

TEST_F(NamingTest, kernel_addresses_of_this_boot_are_named) {
  world_.note_kernel_place({.symbol = "_text", .avma = text_});
  EXPECT_EQ(name_of(world_, recording_, function_ + 8), "do_syscall_64");
}

TEST_F(NamingTest, kernel_addresses_of_another_boot_are_moved_to_this_one) {
  world_.note_kernel_place({.symbol = "_text", .avma = text_ - kShift});
  EXPECT_EQ(name_of(world_, recording_, function_ + 8 - kShift), "do_syscall_64");
}

TEST_F(NamingTest, another_kernel_has_no_names_and_says_so) {
  recording_.kernel_release = "2.6.32-other";
  FrameNamer naming(world_, recording_, false);
  const auto& frames = naming.location(world_.intern_kernel_address(function_ + 8));
  EXPECT_EQ(frames.front().function.substr(0, 8), "[kernel]");
  ASSERT_EQ(naming.caveats().size(), 1U);
  EXPECT_NE(naming.caveats().front().find("2.6.32-other"), std::string::npos);
}

TEST_F(NamingTest, names_in_the_file_come_before_those_of_this_machine) {
  EmbeddedSymbols symbols;
  symbols.add({.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"},
              function_ + 7,
              {{.function = "as_recorded", .kernel = true}});
  recording_.symbols_json = symbols.to_json();
  EXPECT_EQ(name_of(world_, recording_, function_ + 8), "as_recorded");
}

TEST(Naming, frames_say_where_in_which_file_they_are) {
  World world({});
  const ModuleId kernel = world.modules().kernel();
  const Recording recording{
      .kernel_release = "2.6.32-other",
      .build_ids = {{.path = "[kernel.kallsyms]", .build_id = "0a0b", .kernel = true}}};
  FrameNamer naming(world, recording, false);
  const LocationId location = world.intern_kernel_address(0xffffffff81000010);
  const Frame frame = naming.location(location).front();
  EXPECT_EQ(frame.file_id, kernel);
  EXPECT_EQ(frame.address, world.stacks().location(location).lookup_offset());
  EXPECT_EQ(naming.module(kernel).path, "[kernel.kallsyms]");
  EXPECT_EQ(naming.module(kernel).build_id, "0a0b");
}

}  // namespace
}  // namespace memtrace
