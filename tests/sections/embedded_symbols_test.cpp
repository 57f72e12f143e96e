#include "sections/embedded_symbols.h"

#include <gtest/gtest.h>

#include "sections/symbols_text.h"

namespace memtrace {
namespace {

const Module kLibc{.kind = ModuleKind::File, .path = "/usr/lib/libc.so.6"};
const Module kKernel{.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"};

Frames inlined_frames() {
  return {
      {.function = "copy<int>", .module = "libc.so.6", .file = "a.h", .line = 7, .inlined = true},
      {.function = "memmove", .module = "libc.so.6", .file = "b.c", .line = 90}};
}

EmbeddedSymbols read_back(const EmbeddedSymbols& symbols) {
  auto parsed = EmbeddedSymbols::parse(symbols.to_json());
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? parsed.take() : EmbeddedSymbols();
}

TEST(EmbeddedSymbolsTest, frames_come_back_as_they_were) {
  EmbeddedSymbols symbols;
  symbols.add(kLibc, 0x1234, inlined_frames());
  symbols.add(kKernel, 0xffffffff81000000U, {{.function = "kfree", .kernel = true}});
  const EmbeddedSymbols read = read_back(symbols);
  const auto frames = read.find(kLibc, 0x1234);
  ASSERT_TRUE(frames.has_value());
  ASSERT_EQ(frames->size(), 2U);
  EXPECT_EQ(frames->at(0).function, "copy<int>");
  EXPECT_TRUE(frames->at(0).inlined);
  EXPECT_EQ(frames->at(1).file, "b.c");
  EXPECT_EQ(frames->at(1).line, 90U);
  EXPECT_FALSE(frames->at(1).inlined);
  const auto kernel = read.find(kKernel, 0xffffffff81000000U);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_TRUE(kernel->front().kernel);
}

TEST(EmbeddedSymbolsTest, places_that_were_not_seen_are_not_found) {
  EmbeddedSymbols symbols;
  symbols.add(kLibc, 0x1234, inlined_frames());
  const EmbeddedSymbols read = read_back(symbols);
  EXPECT_FALSE(read.find(kLibc, 0x1235).has_value());
  EXPECT_FALSE(read.find(kKernel, 0x1234).has_value());
  EXPECT_FALSE(read.empty());
}

// Below chroot(2) another file has the same path.
TEST(EmbeddedSymbolsTest, files_of_the_same_path_have_names_of_their_own) {
  Module inside = kLibc;
  inside.inode = 12;
  Module other = kLibc;
  other.inode = 13;
  EmbeddedSymbols symbols;
  symbols.add(inside, 0x10, {{.function = "inside"}});
  symbols.add(other, 0x10, {{.function = "other"}});
  symbols.add(kLibc, 0x20, {{.function = "unnumbered"}});
  const EmbeddedSymbols read = read_back(symbols);
  ASSERT_TRUE(read.find(inside, 0x10).has_value());
  EXPECT_EQ(read.find(inside, 0x10)->front().function, "inside");
  ASSERT_TRUE(read.find(other, 0x10).has_value());
  EXPECT_EQ(read.find(other, 0x10)->front().function, "other");
  inside.inode = 14;  // of a file that is written without numbers, as memtrace did
  ASSERT_TRUE(read.find(inside, 0x20).has_value());
  EXPECT_EQ(read.find(inside, 0x20)->front().function, "unnumbered");
}

// Two processes may have different code at the same anonymous address.
TEST(EmbeddedSymbolsTest, anonymous_code_is_each_process_own) {
  EmbeddedSymbols symbols;
  symbols.add({.kind = ModuleKind::Anonymous, .path = "//anon", .pid = 7}, 0x10, inlined_frames());
  const EmbeddedSymbols read = read_back(symbols);
  EXPECT_TRUE(
      read.find({.kind = ModuleKind::Anonymous, .path = "//anon", .pid = 7}, 0x10).has_value());
  EXPECT_FALSE(
      read.find({.kind = ModuleKind::Anonymous, .path = "//anon", .pid = 8}, 0x10).has_value());
}

TEST(EmbeddedSymbolsTest, order_of_adding_does_not_show_in_the_bytes) {
  EmbeddedSymbols one;
  EmbeddedSymbols other;
  one.add(kLibc, 1, inlined_frames());
  one.add(kKernel, 2, inlined_frames());
  other.add(kKernel, 2, inlined_frames());
  other.add(kLibc, 1, inlined_frames());
  EXPECT_EQ(one.to_json(), other.to_json());
}

// A just-in-time compiler gives an address to other code.
TEST(EmbeddedSymbolsTest, place_that_is_written_again_replaces_the_one_before) {
  SymbolsText text;
  text.add(kLibc, 0x10, inlined_frames());
  text.add(kKernel, 0x10, {{.function = "kfree", .kernel = true}});
  text.add(kLibc, 0x10, {{.function = "again"}});
  const auto read = EmbeddedSymbols::parse(text.to_json());
  ASSERT_TRUE(read.ok()) << text.to_json();
  const auto frames = read.value().find(kLibc, 0x10);
  ASSERT_TRUE(frames.has_value());
  ASSERT_EQ(frames->size(), 1U);
  EXPECT_EQ(frames->front().function, "again");
  ASSERT_TRUE(read.value().find(kKernel, 0x10).has_value());
}

TEST(EmbeddedSymbolsTest, names_that_are_not_utf8_do_not_spoil_the_others) {
  EmbeddedSymbols symbols;
  symbols.add(kLibc, 1, {{.function = "bad\xff"}});
  symbols.add(kLibc, 2, inlined_frames());
  EXPECT_TRUE(read_back(symbols).find(kLibc, 2).has_value());
}

TEST(EmbeddedSymbolsTest, nothing_is_read_back_as_nothing) {
  EXPECT_TRUE(read_back({}).empty());
}

TEST(EmbeddedSymbolsTest, what_a_later_version_adds_is_passed_over) {
  const auto read = EmbeddedSymbols::parse(
      R"({"since":[1,{"modules":[2]}],"modules":[{"at":[[5,[["f","m","s",3,false,true,"more",[]]],8]],)"
      R"("file":"1:2:3","module":"a","size":{"at":[4]}}],"version":2})");
  ASSERT_TRUE(read.ok()) << describe(read.error());
  const Module module{.kind = ModuleKind::File, .path = "a", .major = 1, .minor = 2, .inode = 3};
  const auto frames = read.value().find(module, 5);
  ASSERT_TRUE(frames.has_value());
  ASSERT_EQ(frames->size(), 1U);
  EXPECT_EQ(frames->front().function, "f");
  EXPECT_EQ(frames->front().line, 3U);
  EXPECT_TRUE(frames->front().inlined);
}

TEST(EmbeddedSymbolsTest, what_is_known_stays_when_others_are_merged) {
  EmbeddedSymbols symbols;
  symbols.add(kLibc, 1, {{.function = "known"}});
  symbols.add(kLibc, 3, {{.function = "third"}});
  EmbeddedSymbols others;
  others.add(kLibc, 1, {{.function = "other"}});
  others.add(kLibc, 2, inlined_frames());
  others.add(kKernel, 4, {{.function = "kfree", .kernel = true}});
  symbols.merge(others);
  EXPECT_EQ(symbols.find(kLibc, 1)->front().function, "known");
  EXPECT_EQ(symbols.find(kLibc, 2)->back().function, "memmove");
  EXPECT_EQ(symbols.find(kLibc, 3)->front().function, "third");
  EXPECT_TRUE(symbols.find(kKernel, 4)->front().kernel);
}

TEST(EmbeddedSymbolsTest, other_bytes_are_an_error) {
  for (const char* bytes :
       {"",
        "{",
        "[]",
        "{\"modules\": 7}",
        R"({"modules":[{"module":"a","at":[[1]]}]})",
        R"({"modules":[{"module":"a","at":[["x",[["f","m","",0,true,false]]]]}]})",
        R"({"modules":[{"module":"a","at":[[1,[["f"]]]]}]})"}) {
    EXPECT_FALSE(EmbeddedSymbols::parse(bytes).ok()) << bytes;
  }
}

}  // namespace
}  // namespace memtrace
