#include "recording/kept_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

class KeptFilesTest : public testing::Test {
 protected:
  std::optional<CreatedFile> create(const std::string& name) {
    auto file = OutputFile::create(dir_.file(name), nullptr);
    EXPECT_TRUE(file.ok());
    return file.value().created_file();
  }

  std::set<std::string> names() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  test::TempDir dir_;
};

TEST_F(KeptFilesTest, oldest_files_go_when_there_are_too_many) {
  KeptFiles kept(3);
  for (const char* name : {"a", "b", "c"}) {
    kept.add(create(name));
    kept.make_room(1);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"b", "c"})) << "and the one that is written";
  EXPECT_EQ(kept.removed(), 1U);
  kept.make_room(2);
  EXPECT_EQ(names(), std::set<std::string>{"c"});
  EXPECT_EQ(kept.removed(), 2U);
}

TEST_F(KeptFilesTest, all_files_stay_without_a_number) {
  KeptFiles kept(0);
  kept.add(create("a"));
  kept.add(create("b"));
  kept.make_room(2);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
}

TEST_F(KeptFilesTest, file_that_took_the_place_stays) {
  KeptFiles kept(1);
  kept.add(create("a"));
  std::filesystem::rename(dir_.file("a"), dir_.file("moved"));
  std::ofstream(dir_.file("a")) << "of somebody else";
  kept.make_room(1);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "moved"}));
  EXPECT_EQ(kept.removed(), 0U);
}

TEST_F(KeptFilesTest, link_that_took_the_place_stays_with_what_it_leads_to) {
  KeptFiles kept(1);
  kept.add(create("a"));
  std::filesystem::rename(dir_.file("a"), dir_.file("moved"));
  std::filesystem::create_symlink(dir_.file("moved"), dir_.file("a"));
  kept.make_room(1);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "moved"}));
}

// As mktemp(1) makes them: memtrace writes into it, but has not made it.
TEST_F(KeptFilesTest, file_that_was_there_before_stays) {
  std::ofstream(dir_.file("a"));
  std::filesystem::permissions(dir_.file("a"), std::filesystem::perms{0600});
  KeptFiles kept(1);
  kept.add(create("a"));
  kept.make_room(1);
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_EQ(kept.removed(), 0U);
}

}  // namespace
}  // namespace memtrace
