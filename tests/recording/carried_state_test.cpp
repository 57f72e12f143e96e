#include "recording/carried_state.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "perf/record/perf_format.h"
#include "perf/record/record_parser.h"

namespace memtrace {
namespace {

class CarriedStateTest : public testing::Test {
 protected:
  CarriedStateTest() : world_({.track_mappings = true}) {}

  void rename(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
    world_.processes().rename(pid, tid, world_.strings().intern(name));
  }

  void map(std::uint32_t pid,
           MemoryMap::Range range,
           const MemoryArea& area,
           std::string_view path) {
    MemoryArea named = area;
    named.path = world_.strings().intern(path);
    world_.announce({.pid = pid, .tid = pid, .range = range, .file_offset = 0x3000, .area = named});
  }

  // Type and size are in the header; of comm and mmap records the fixed fields follow.
  struct Carried {
    std::multimap<std::uint32_t, std::string> names;  // by tid
    std::vector<Mmap> mappings;                       // of processes; paths are in `paths`
    std::vector<std::string> paths;
    std::uint64_t count = 0;
  };

  Carried carried() {
    // Without trailers: nothing has to know the events.
    const CarriedState state(RecordBuilder(7, TrailerShape::None), world_, kernel_, 500);
    Carried all{.count = state.record_count()};
    auto rest = state.bytes();
    std::uint64_t count = 0;
    while (!rest.empty()) {
      const auto record = rest.first(header_of(rest).size_bytes);
      rest = rest.subspan(record.size());
      ++count;
      const auto parsed = RecordParser().parse(record);
      EXPECT_TRUE(parsed.ok());
      if (const auto* comm = std::get_if<Comm>(&parsed.value().payload)) {
        all.names.emplace(comm->tid, comm->name);
        EXPECT_FALSE(comm->exec);
      } else if (const auto* mmap = std::get_if<Mmap>(&parsed.value().payload);
                 mmap != nullptr && mmap->pid != kKernelPid) {
        all.mappings.push_back(*mmap);
        all.paths.emplace_back(mmap->path);
      }
    }
    EXPECT_EQ(all.count, count);
    return all;
  }

  World world_;
  std::optional<Mmap> kernel_;
};

using Names = std::multimap<std::uint32_t, std::string>;

TEST_F(CarriedStateTest, kernel_comes_first) {
  kernel_ = Mmap{.pid = kKernelPid, .start = 0xffffffff81000000U, .path = "[kernel.kallsyms]_text"};
  rename(10, 10, "server");
  const Carried all = carried();
  EXPECT_EQ(all.count, 2U);
  EXPECT_EQ(all.names.size(), 1U);
}

TEST_F(CarriedStateTest, names_of_all_threads_that_run) {
  rename(10, 10, "server");
  rename(10, 11, "worker");
  rename(20, 20, "gone");
  world_.fork({.pid = 10, .parent_pid = 10, .tid = 12, .parent_tid = 11});
  world_.exit(10, 11);
  world_.exit(20, 20);
  EXPECT_EQ(carried().names, (Names{{10, "server"}, {12, "worker"}}));
}

TEST_F(CarriedStateTest, process_runs_as_long_as_a_thread_does) {
  rename(10, 10, "server");
  rename(10, 11, "worker");
  world_.exit(10, 10);
  EXPECT_EQ(carried().names, (Names{{10, "server"}, {11, "worker"}}));
  world_.exit(10, 11);
  EXPECT_TRUE(carried().names.empty());
}

TEST_F(CarriedStateTest, pid_that_is_used_again_is_the_new_process) {
  rename(10, 10, "old");
  world_.exit(10, 10);
  rename(1, 1, "shell");
  world_.fork({.pid = 10, .parent_pid = 1, .tid = 10, .parent_tid = 1});
  EXPECT_EQ(carried().names, (Names{{1, "shell"}, {10, "shell"}}));
}

TEST_F(CarriedStateTest, mappings_are_as_the_calls_have_left_them) {
  rename(10, 10, "server");
  map(10,
      {0x10000, 0x14000},
      {.kind = AreaKind::File, .major = 8, .minor = 1, .inode = 99, .protection = 5, .flags = 2},
      "/lib/a.so");
  map(10, {0x20000, 0x21000}, {.kind = AreaKind::Heap, .protection = 3, .flags = 2}, "[heap]");
  map(10, {0x30000, 0x31000}, {.kind = AreaKind::Anonymous, .protection = 3, .flags = 2}, "");
  world_.exit(30, 30);
  const Carried all = carried();
  ASSERT_EQ(all.mappings.size(), 3U);
  EXPECT_EQ(all.paths, (std::vector<std::string>{"/lib/a.so", "[heap]", "//anon"}));
  const Mmap& code = all.mappings.front();
  EXPECT_TRUE(code.executable);
  EXPECT_FALSE(all.mappings[1].executable);
  EXPECT_EQ(code.start, 0x10000U);
  EXPECT_EQ(code.length_bytes, 0x4000U);
  EXPECT_EQ(code.file_offset, 0x3000U);
  EXPECT_EQ(code.inode, 99U);
  EXPECT_EQ(code.major, 8U);
  EXPECT_EQ(code.flags, 2U);
  EXPECT_EQ(code.prot, 5U);
}

TEST_F(CarriedStateTest, part_of_a_mapping_keeps_its_offset) {
  rename(10, 10, "server");
  const MemoryArea code{.kind = AreaKind::File, .inode = 1, .protection = 5, .flags = 2};
  map(10, {0x10000, 0x14000}, code, "/lib/a.so");
  map(10, {0x11000, 0x12000}, code, "/lib/b.so");
  const Carried all = carried();
  ASSERT_EQ(all.mappings.size(), 3U);
  EXPECT_EQ(all.mappings[1].file_offset, 0x3000U);
  EXPECT_EQ(all.mappings[2].start, 0x12000U);
  EXPECT_EQ(all.mappings[2].file_offset, 0x5000U);
}

TEST_F(CarriedStateTest, exec_takes_the_mappings_away_and_keeps_the_process) {
  rename(10, 10, "server");
  map(10, {0x10000, 0x14000}, {.kind = AreaKind::File, .protection = 5, .flags = 2}, "/lib/a.so");
  world_.exit(10, 10);  // another thread calls execve(2): the first one ends
  world_.exec(10);
  rename(10, 10, "new");
  const Carried all = carried();
  EXPECT_EQ(all.names, (Names{{10, "new"}}));
  EXPECT_TRUE(all.mappings.empty());
}

}  // namespace
}  // namespace memtrace
