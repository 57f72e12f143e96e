#include "observe/host_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/system.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

TEST(MachineTest, migrate_types_are_read_in_the_order_of_their_numbers) {
  constexpr std::string_view kText =
      "Page block order: 9\n"
      "Pages per block:  512\n"
      "\n"
      "Free pages count per migrate type at order       0      1      2\n"
      "Node    0, zone      DMA, type    Unmovable      0      0      0\n"
      "Node    0, zone      DMA, type      Movable      0      0      0\n"
      "Node    0, zone      DMA, type  Reclaimable      0      0      0\n"
      "Node    0, zone      DMA, type   HighAtomic      0      0      0\n"
      "Node    0, zone    DMA32, type    Unmovable      1      0      1\n"
      "Node    0, zone    DMA32, type      Movable      1      0      1\n"
      "\n"
      "Number of blocks type     Unmovable      Movable\n"
      "Node 0, zone      DMA            1            3\n";
  const std::vector<std::string> expected = {"Unmovable", "Movable", "Reclaimable", "HighAtomic"};
  EXPECT_EQ(parse_migratetypes(kText), expected);
}

TEST(MachineTest, counts_cut_short_in_a_row_do_not_hide_its_type) {
  // The kernel writes ">100000" where counting took too long (since 5.5).
  EXPECT_EQ(parse_migratetypes("Node    0, zone   Normal, type    Movable >100000 5\n"),
            std::vector<std::string>{"Movable"});
}

TEST(MachineTest, other_text_has_no_migrate_types) {
  EXPECT_TRUE(parse_migratetypes("").empty());
  EXPECT_TRUE(parse_migratetypes("Node 0, zone DMA\n, type \n").empty());
}

TEST(MachineTest, slab_caches_are_read_with_the_size_of_an_object) {
  const auto caches = parse_slabinfo(
      "slabinfo - version: 2.1\n"
      "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : "
      "tunables\n"
      "dentry              1234   2345    192   21    1 : tunables    0    0    0 : slabdata\n"
      "bio-312               12     12    320   12    1 : tunables    0    0    0 : slabdata\n");
  const std::map<std::string, std::uint64_t> expected = {{"bio-312", 320}, {"dentry", 192}};
  EXPECT_EQ(caches, expected);
  EXPECT_TRUE(parse_slabinfo("").empty());
}

TEST(MachineTest, pages_that_a_process_dirtied_are_taken_off) {
  VmstatCounters counters = parse_vmstat("nr_dirtied 100\npgfault 10\n");
  take_off_dirtied("rchar: 9\nwrite_bytes: 40960\ncancelled_write_bytes: 8192\n", 4096, counters);
  EXPECT_EQ(counters, (VmstatCounters{{"nr_dirtied", 90}, {"pgfault", 10}}));
  take_off_dirtied("", 4096, counters);
  EXPECT_EQ(counters.at("nr_dirtied"), 90U);
  take_off_dirtied("write_bytes: 4096000\n", 4096, counters);
  EXPECT_EQ(counters.at("nr_dirtied"), 0U);
  counters.clear();
  take_off_dirtied("write_bytes: 4096\n", 4096, counters);
  EXPECT_TRUE(counters.empty());
}

TEST(MachineTest, figures_of_large_folios_have_the_names_of_their_files) {
  const test::TempDir dir;
  const std::string stats = dir.path() + "/hugepages-64kB/stats";
  std::filesystem::create_directories(stats);
  std::filesystem::create_directories(dir.path() + "/khugepaged");
  std::ofstream(stats + "/anon_fault_alloc") << "17\n";
  std::ofstream(stats + "/swpout") << "\n";
  VmstatCounters counters = {{"pgfault", 1}};
  add_folio_counters(dir.path(), counters);
  EXPECT_EQ(counters, (VmstatCounters{{"hugepages-64kB/anon_fault_alloc", 17}, {"pgfault", 1}}));
  add_folio_counters(dir.path() + "/none", counters);
  EXPECT_EQ(counters.size(), 2U);
}

TEST(MachineTest, faults_of_a_process_are_taken_off) {
  VmstatCounters counters = {{"pgfault", 100}, {"pgmajfault", 7}};
  take_off_faults(30, 5, counters);
  EXPECT_EQ(counters, (VmstatCounters{{"pgfault", 65}, {"pgmajfault", 2}}));
  take_off_faults(66, 0, counters);
  EXPECT_EQ(counters.at("pgfault"), 0U);
}

TEST(MachineTest, counters_of_vmstat_are_read_and_compared) {
  const VmstatCounters before = parse_vmstat("pgfault 10\npswpin 3\nnr_free_pages 50\n");
  const VmstatCounters expected = {{"nr_free_pages", 50}, {"pgfault", 10}, {"pswpin", 3}};
  EXPECT_EQ(before, expected);
  const VmstatCounters now = parse_vmstat("pgfault 12\npswpin 3\nnr_free_pages 40\nnew 1\n");
  EXPECT_EQ(growth_of(before, now), (VmstatCounters{{"pgfault", 2}}));
  EXPECT_TRUE(parse_vmstat("").empty());
  EXPECT_TRUE(parse_vmstat("pgfault\npswpin x\n").empty());
}

TEST(MachineTest, this_machine_has_a_kernel_cpus_and_memory) {
  const Recording machine = read_host_facts();
  EXPECT_FALSE(machine.kernel_release.empty());
  EXPECT_GE(machine.cpus_available, machine.cpus_online);
  EXPECT_GE(machine.cpus_online, 1U);
  EXPECT_GT(machine.total_memory_bytes, std::uint64_t{1} << 20U);
  EXPECT_GE(machine.page_size_bytes, 4096U);
  EXPECT_TRUE(machine.events.empty());
  const auto cpus = read_file("/proc/cpuinfo");
  ASSERT_TRUE(cpus.ok());
  EXPECT_NE(cpus.value().find(machine.cpu_description), std::string::npos);
}

TEST(CpuNodes, every_online_cpu_has_one) {
  const std::vector<std::uint32_t> nodes = cpu_nodes();
  const auto cpus = online_cpus();
  ASSERT_TRUE(cpus.ok());
  EXPECT_GT(nodes.size(), static_cast<std::size_t>(cpus.value().back()));
}

}  // namespace
}  // namespace memtrace
