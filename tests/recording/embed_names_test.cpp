#include "recording/embed_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sections/embedded_symbols.h"

namespace memtrace {
namespace {

class NumberingNamer final : public Namer {
 public:
  const Frames& stack(StackId /*id*/) override { return frames_; }

  const Frames& location(LocationId id) override {
    frames_ = {{.function = "function_" + std::to_string(id.value)}};
    return frames_;
  }

 private:
  Frames frames_;
};

// Keeps the order in which it was asked.
class RecordingNamer final : public Namer {
 public:
  explicit RecordingNamer(std::vector<std::uint32_t>& asked) : asked_(asked) {}

  const Frames& stack(StackId /*id*/) override { return frames_; }

  const Frames& location(LocationId id) override {
    asked_.push_back(id.value);
    return frames_;
  }

 private:
  std::vector<std::uint32_t>& asked_;
  Frames frames_;
};

class EmbedNamesTest : public testing::Test {
 protected:
  EmbedNamesTest() {
    constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;
    world_.map({.pid = 1,
                .range = {0x400000, 0x500000},
                .file_offset = 0,
                .module = {.kind = ModuleKind::File, .path = "/bin/program"}});
    world_.intern_stack(1, std::vector<std::uint64_t>{kUserMarker, 0x400100, 0x400200, 0x400300});
  }

  World world_{{}};
  NumberingNamer namer_;
};

TEST_F(EmbedNamesTest, all_addresses_get_their_names) {
  EmbeddedNames names;
  embed_names(
      world_, namer_, [] { return false; }, names);
  EXPECT_EQ(names.left_out, 0U);
  const std::string json = names.symbols.to_json();
  for (const char* function : {"function_1", "function_2", "function_3"}) {
    EXPECT_NE(json.find(function), std::string::npos) << json;
  }
}

TEST_F(EmbedNamesTest, those_left_when_nobody_wants_to_wait_have_none) {
  int asked = 0;
  EmbeddedNames names;
  embed_names(
      world_, namer_, [&asked] { return ++asked == 2; }, names);
  EXPECT_EQ(names.left_out, 2U);
  EXPECT_EQ(asked, 2);
  const auto read = EmbeddedSymbols::parse(names.symbols.to_json());
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read.value().empty());
  embed_names(
      world_, namer_, [] { return false; }, names);
  EXPECT_EQ(names.left_out, 0U) << "the next file has them";
  EXPECT_EQ(names.listed, world_.stacks().location_count());
  EXPECT_TRUE(names.to_name.empty());
}

// Processes take turns, and each file may need a hundred megabytes while it is read.
TEST_F(EmbedNamesTest, each_file_is_named_as_a_whole) {
  constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;
  world_.map({.pid = 1,
              .range = {0x700000, 0x800000},
              .file_offset = 0,
              .module = {.kind = ModuleKind::File, .path = "/lib/library"}});
  world_.intern_stack(1, std::vector<std::uint64_t>{kUserMarker, 0x700100});  // function_4
  world_.intern_stack(1, std::vector<std::uint64_t>{kUserMarker, 0x400400});  // function_5
  std::vector<std::uint32_t> asked;
  RecordingNamer namer(asked);
  EmbeddedNames names;
  embed_names(
      world_, namer, [] { return false; }, names);
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{1, 2, 3, 5, 4}));
}

}  // namespace
}  // namespace memtrace
