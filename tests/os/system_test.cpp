#include "os/system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace memtrace {
namespace {

// A directory of this process's own, gone at the end.
class System : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_ = testing::TempDir() + "memtrace_system_test." + std::to_string(::getpid());
};

TEST_F(System, a_file_is_read_whole) {
  const std::string content = std::string(200'000, 'x') + '\0' + "end";
  std::ofstream(path("big"), std::ios::binary) << content;
  EXPECT_EQ(read_file(path("big")).value(), content);
}

TEST_F(System, no_more_of_a_file_is_read_than_is_asked_for) {
  EXPECT_EQ(read_file("/dev/zero", 100000).value().size(), 100000U);
  EXPECT_EQ(read_file("/dev/null", 100000).value(), "");
}

TEST_F(System, files_of_proc_are_read_though_their_size_is_zero) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status.ok());
  EXPECT_NE(status.value().find("Pid:"), std::string::npos);
}

TEST_F(System, a_missing_file_and_a_folder_are_errors_that_name_them) {
  EXPECT_EQ(describe(read_file(path("none")).error()),
            "open(" + path("none") + "): No such file or directory");
  EXPECT_EQ(describe(read_file(folder_).error()), "read(" + folder_ + "): Is a directory");
}

TEST_F(System, names_in_a_folder_are_sorted_and_without_dots) {
  for (const char* name : {"b", "a", ".hidden"}) {
    std::ofstream(path(name)) << "";
  }
  EXPECT_EQ(list_directory(folder_).value(), (std::vector<std::string>{".hidden", "a", "b"}));
  EXPECT_EQ(list_directory(path("none")).error().errno_value, ENOENT);
}

TEST_F(System, a_path_exists_or_not) {
  EXPECT_TRUE(path_exists(folder_));
  EXPECT_FALSE(path_exists(path("none")));
}

TEST_F(System, cpu_lists_are_ranges_and_numbers) {
  EXPECT_EQ(parse_cpu_list("0-3,5"), (std::vector<int>{0, 1, 2, 3, 5}));
  EXPECT_EQ(parse_cpu_list("7"), std::vector<int>{7});
  EXPECT_TRUE(parse_cpu_list("").empty());
}

TEST_F(System, a_cpu_list_ends_at_the_first_thing_that_is_none) {
  EXPECT_EQ(parse_cpu_list("1,x,2"), std::vector<int>{1});
  EXPECT_EQ(parse_cpu_list("1,2-4-6"), std::vector<int>{1});
  EXPECT_EQ(parse_cpu_list("1,0-4294967295"), std::vector<int>{1});
  EXPECT_EQ(parse_cpu_list("1,-3"), std::vector<int>{1});
}

TEST_F(System, a_boot_has_an_id) {
  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(boot_id(), boot_id());
}

TEST_F(System, the_machine_has_a_cpu_and_pages) {
  EXPECT_FALSE(online_cpus().value().empty());
  EXPECT_EQ(page_size_bytes() % 4096, 0U);
}

}  // namespace
}  // namespace memtrace
