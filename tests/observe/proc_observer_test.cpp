// Readings of /proc at the moment of an event, from a folder made up for the test.
#include "observe/proc_observer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "sections/recording_facts.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

class ObserverTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(dir_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  static Event refused_mmap(std::uint64_t time_ns) {
    Event event;
    event.time_ns = time_ns;
    event.pid = 12;
    event.tid = 13;
    event.payload = SystemCallDone{.call = SystemCall::Mmap, .result = -ENOMEM};
    return event;
  }

  TempDir dir_;
  Observations seen_;
};

TEST_F(ObserverTest, changes_of_slab_caches_are_read_at_the_begin_and_at_each_end) {
  const std::string head = "slabinfo - version: 2.1\n# name <active_objs> ...\n";
  const auto line = [](const char* name, int objects, int size, int slabs) {
    return std::string(name) + " " + std::to_string(objects) + " 999 " + std::to_string(size) +
           " 21 2 : tunables 0 0 0 : slabdata 9 " + std::to_string(slabs) + " 0\n";
  };
  write("proc/slabinfo", head + line("dentry", 100, 192, 5) + line("filp", 7, 256, 1));
  write("proc/vmstat", "nr_slab_reclaimable 50\nnr_slab_unreclaimable 20\npgfault 1\n");
  write("sys/kernel/slab/:0000192/alias", "1\n");
  std::filesystem::create_symlink(":0000192", dir_.path() + "/sys/kernel/slab/dentry");
  std::filesystem::create_symlink(":0000192", dir_.path() + "/sys/kernel/slab/other");
  ProcObserver observer(ProcFolder{dir_.path() + "/proc"});
  observer.begin_slabs();
  write("proc/slabinfo", head + line("dentry", 121, 192, 6) + line("filp", 7, 256, 1));
  write("proc/vmstat", "nr_slab_reclaimable 52\nnr_slab_unreclaimable 20\npgfault 9\n");
  observer.at_end(1000, seen_);
  const Observation* slabs = seen_.find("slab_counts", 1000, 0);
  ASSERT_NE(slabs, nullptr);
  EXPECT_EQ(*slabs->facts.number("nr_slab_reclaimable_before"), 50U);
  EXPECT_EQ(*slabs->facts.number("nr_slab_reclaimable"), 52U);
  EXPECT_EQ(slabs->facts.number("pgfault"), nullptr);
  ASSERT_EQ(slabs->rows.size(), 1U) << "filp has not changed";
  const Facts& dentry = slabs->rows[0];
  EXPECT_EQ(*dentry.text("name"), "dentry");
  EXPECT_EQ(*dentry.text("aliases"), "other");
  EXPECT_EQ(*dentry.number("objsize"), 192U);
  EXPECT_EQ(*dentry.number("objects_before"), 100U);
  EXPECT_EQ(*dentry.number("objects"), 121U);
  EXPECT_EQ(*dentry.number("pages_before"), 10U);
  EXPECT_EQ(*dentry.number("pages"), 12U);

  observer.at_end(2000, seen_);
  EXPECT_EQ(seen_.find("slab_counts", 1000, 0), nullptr) << "the last one is kept alone";
  EXPECT_TRUE(seen_.find("slab_counts", 2000, 0)->rows.empty());
}

TEST_F(ObserverTest, a_slabinfo_that_may_not_be_read_is_said_to_be_so) {
  write("proc/vmstat", "nr_slab_reclaimable 50\n");
  ProcObserver observer(ProcFolder{dir_.path() + "/proc"});
  observer.begin_slabs();
  observer.at_end(1000, seen_);
  const Observation* slabs = seen_.find("slab_counts", 1000, 0);
  ASSERT_NE(slabs, nullptr);
  ASSERT_NE(slabs->facts.text("error"), nullptr);
  EXPECT_EQ(*slabs->facts.number("nr_slab_reclaimable"), 50U);
}

TEST_F(ObserverTest, the_limits_of_a_process_that_was_refused_memory_are_read) {
  write("12/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         67108864             unlimited            bytes     \n");
  write("12/status", "Name:\tx\nVmSize:\t    3060 kB\n");
  write("12/maps", "00400000-00401000 r--p 0 00:00 0\n00401000-00402000 r--p 0 00:00 0\n");
  write("meminfo", "CommitLimit:     1000 kB\nCommitted_AS:    2000 kB\n");
  write("sys/vm/overcommit_memory", "2\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(refused_mmap(5), seen_);
  const Observation* limits = seen_.find("limits", 5, 13);
  ASSERT_NE(limits, nullptr);
  ASSERT_NE(limits->facts.number("rlimit_as"), nullptr);
  EXPECT_EQ(*limits->facts.number("rlimit_as"), 67108864U);
  EXPECT_EQ(*limits->facts.text("rlimit_data"), "unlimited");
  EXPECT_EQ(*limits->facts.number("vm_size"), 3060U * 1024);
  EXPECT_EQ(*limits->facts.number("mappings"), 2U);
  EXPECT_EQ(*limits->facts.number("committed"), 2000U * 1024);
  EXPECT_EQ(*limits->facts.number("overcommit_memory"), 2U);
  EXPECT_EQ(limits->facts.number("max_map_count"), nullptr);
}

TEST_F(ObserverTest, nothing_is_read_for_a_call_that_was_not_refused) {
  Event event = refused_mmap(5);
  event.payload = SystemCallDone{.call = SystemCall::Mmap, .result = 0x1000};
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(ObserverTest, a_burst_is_read_in_part_and_the_rest_is_counted) {
  ProcObserver observer(ProcFolder{dir_.path()});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    observer.on(refused_mmap(i), seen_);
  }
  EXPECT_EQ(seen_.skipped(), 800U);
  observer.on(refused_mmap(2'000'000'000), seen_);
  EXPECT_EQ(seen_.skipped(), 800U);
  EXPECT_NE(seen_.find("limits", 2'000'000'000, 13), nullptr);
}

TEST_F(ObserverTest, segments_are_read_once_at_the_end_if_any_call_was_about_them) {
  write("sysvipc/shm",
        "       key      shmid perms                  size  cpid  lpid nattch   uid\n"
        "         0          7   600                  4096   101   102      3     0\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.at_end(10, seen_);
  EXPECT_TRUE(seen_.empty());
  Event event = refused_mmap(5);
  event.payload = SystemCallDone{.call = SystemCall::Shmget, .result = 7};
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
  observer.at_end(20, seen_);
  const Observation* segments = seen_.last("segments");
  ASSERT_NE(segments, nullptr);
  EXPECT_EQ(segments->time_ns, 20U);
  ASSERT_EQ(segments->rows.size(), 1U);
  EXPECT_EQ(*segments->rows[0].number("shmid"), 7U);
  EXPECT_EQ(*segments->rows[0].number("nattch"), 3U);
}

Event ended_compaction(std::int32_t zone, std::int32_t order) {
  Event event;
  event.time_ns = 5;
  event.tid = 13;
  event.payload =
      Work{.begin = {.kind = WorkKind::Compaction, .node = 0, .zone = zone, .order = order},
           .end = {.kind = WorkKind::Compaction}};
  return event;
}

constexpr const char* kZones =
    "Node 0, zone      DMA\n"
    "  per-node stats\n"
    "      nr_free_pages 7\n"
    "  pages free     100\n"
    "        min      1\n"
    "Node 0, zone   Normal\n"
    "  pages free     3840\n"
    "        boost    0\n"
    "        min      10\n"
    "        low      13\n"
    "        high     16\n"
    "    cpu: 0\n"
    "              count: 5\n"
    "              high:  378\n";

TEST_F(ObserverTest, the_zone_of_a_compaction_is_read_by_its_number) {
  write("zoneinfo", kZones);
  write("buddyinfo",
        "Node 0, zone      DMA      9      9      9\n"
        "Node 0, zone   Normal     80     10      0\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(ended_compaction(1, 2), seen_);
  const Observation* zone = seen_.find("zone", 5, 13);
  ASSERT_NE(zone, nullptr);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(*zone->facts.number("free"), 3840 * page);
  EXPECT_EQ(*zone->facts.number("min"), 10 * page);
  EXPECT_EQ(*zone->facts.number("low"), 13 * page);
  EXPECT_EQ(*zone->facts.number("high"), 16 * page);
  // 100 pages in 90 blocks: 1000 - (1000 + 100 * 1000 / 4) / 90.
  EXPECT_EQ(*zone->facts.text("fragmentation"), "0.712");
}

TEST_F(ObserverTest, a_block_that_is_large_enough_is_no_fragmentation) {
  write("zoneinfo", kZones);
  write("buddyinfo", "Node 0, zone   Normal     80     10      1\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(ended_compaction(1, 1), seen_);
  EXPECT_EQ(*seen_.find("zone", 5, 13)->facts.text("fragmentation"), "-1.000");
}

TEST_F(ObserverTest, a_compaction_by_hand_is_for_no_order) {
  write("zoneinfo", kZones);
  write("buddyinfo", "Node 0, zone   Normal     80     10      1\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(ended_compaction(1, -1), seen_);
  EXPECT_EQ(seen_.find("zone", 5, 13)->facts.text("fragmentation"), nullptr);
  Event elsewhere = ended_compaction(-1, -1);
  elsewhere.time_ns = 6;
  observer.on(elsewhere, seen_);
  EXPECT_EQ(seen_.find("zone", 6, 13), nullptr);
}

// As Linux 6.18 writes them.
TEST_F(ObserverTest, free_blocks_are_read_by_zone_type_and_order_when_an_allocation_fails) {
  write("buddyinfo", "Node 0, zone      DMA      0      1\nNode 0, zone   Normal   54   50\n");
  write("pagetypeinfo",
        "Page block order: 9\nPages per block:  512\n\n"
        "Free pages count per migrate type at order       0      1 \n"
        "Node    0, zone   Normal, type    Unmovable    217    418 \n"
        "Node    0, zone   Normal, type      Movable    164   1204 \n\n"
        "Number of blocks type     Unmovable      Movable  Reclaimable \n"
        "Node 0, zone      DMA            1            7            0 \n"
        "Node 0, zone   Normal          105        10231          416 \n");
  write("zoneinfo", kZones);
  write("meminfo", "Slab: 30 kB\nSUnreclaim: 20 kB\nMlocked: 8 kB\n");
  const EventType type;
  Event event{.time_ns = 5, .pid = 12, .tid = 13, .type = &type};
  event.payload = PageAlloc{.order = 1, .failed = false};
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty()) << "it did not fail";
  event.payload = PageAlloc{.order = 1, .failed = true};
  observer.on(event, seen_);
  const Observation* seen = seen_.find("free_blocks", 5, 13);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen->facts.number("slab_unreclaimable"), 20U * 1024);
  EXPECT_EQ(*seen->facts.number("mlocked"), 8U * 1024);
  ASSERT_EQ(seen->rows.size(), 2U);
  const Facts& normal = seen->rows[1];
  EXPECT_EQ(*normal.text("zone"), "Normal");
  EXPECT_EQ(*normal.text("blocks"), "54 50");
  EXPECT_EQ(*normal.text("free_movable"), "164 1204");
  EXPECT_EQ(*normal.number("blocks_unmovable"), 105U);
  EXPECT_EQ(*normal.number("blocks_reclaimable"), 416U);
  EXPECT_EQ(*normal.number("min"), 10U * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(*seen->rows[0].number("blocks_movable"), 7U);
}

TEST_F(ObserverTest, sizes_of_processes_are_read_at_the_end_of_a_recording_of_them) {
  write("12/statm", "300 200 100 40 0 90 0\n");
  write("12/comm", "database\n");
  write("13/comm", "has ended meanwhile\n");
  ProcObserver observer(ProcFolder{dir_.path()});
  observer.at_end(10, seen_);
  EXPECT_TRUE(seen_.empty());
  Event event;
  event.payload = RssStat{};
  observer.on(event, seen_);
  observer.at_end(20, seen_);
  const Observation* sizes = seen_.last("sizes");
  ASSERT_NE(sizes, nullptr);
  ASSERT_EQ(sizes->rows.size(), 1U);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::map<std::string, std::uint64_t, std::less<>> expected = {{"pid", 12},
                                                                      {"size", 300 * page},
                                                                      {"resident", 200 * page},
                                                                      {"shared", 100 * page},
                                                                      {"text", 40 * page},
                                                                      {"data", 90 * page}};
  EXPECT_EQ(sizes->rows[0].numbers, expected);
  EXPECT_EQ(*sizes->rows[0].text("comm"), "database");
}

TEST(AboutObservations, come_back_from_the_file) {
  RecordingFacts about;
  about.observations.push_back({.reader = "limits",
                                .time_ns = 7,
                                .tid = 8,
                                .delay_ns = 9,
                                .facts = {.numbers = {{"a", 1}}, .texts = {{"b", "c"}}},
                                .rows = {{.numbers = {{"pid", 2}}, .texts = {{"comm", "d"}}}}});
  about.observations_skipped = 3;
  const RecordingFacts read = parse_recording_facts(to_json(about));
  EXPECT_EQ(read.observations, about.observations);
  EXPECT_EQ(read.observations_skipped, 3U);
}

TEST_F(ObserverTest, kill_for_lack_of_memory_is_read_at_once_even_in_a_burst) {
  write("42/status", "Name:\thog\nUid:\t1000\t1000\t0\t0\nVmSize:\t 80 kB\nRssAnon:\t 40 kB\n");
  write("42/cgroup", "5:cpu:/other\n4:memory:/small\n0::/\n");
  write("42/oom_score_adj", "-10\n");
  write("42/statm", "20 11 1 1 0 1 0\n");
  write("42/comm", "hog\n");
  write("7/statm", "90 50 1 1 0 1 0\n");
  write("7/comm", "larger\n");
  write("8/statm", "0 0 0 0 0 0 0\n");  // a kernel thread
  write("meminfo",
        "MemFree:     1000 kB\nMemAvailable:    2000 kB\nSwapFree:   0 kB\n"
        "MemTotal:   5000 kB\n");
  write("loadavg", "0.20 0.18 0.12 1/80 11206\n");
  Event event;
  event.time_ns = 5;
  event.tid = 13;
  event.payload = OomVictim{.pid = 42};
  const auto log = [] {
    return std::string(
        "hog invoked oom-killer: order=0\n"
        "<6>[1.2] memory: usage 20kB, limit 24kB, failcnt 2\n"
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/small,task_memcg=/small,task=hog,pid=42\n"
        "Memory cgroup out of memory: Killed process 42 (hog)\n");
  };
  ProcObserver observer(ProcFolder{.path = std::string(dir_.path()), .kernel_log = log});
  for (int i = 0; i < 1000; ++i) {
    observer.on(refused_mmap(5), seen_);
  }
  observer.on(event, seen_);
  const Observation* seen = seen_.find("oom", 5, 13);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen->facts.number("victim_uid"), 1000U);
  EXPECT_EQ(*seen->facts.number("victim_anon"), 40U * 1024);
  EXPECT_EQ(*seen->facts.text("victim_cgroup"), "/small");
  EXPECT_EQ(*seen->facts.number("cgroup_usage"), 20U * 1024) << "what it was before the kill";
  EXPECT_EQ(*seen->facts.number("cgroup_limit"), 24U * 1024);
  EXPECT_EQ(*seen->facts.text("victim_oom_score_adj"), "-10");
  EXPECT_EQ(*seen->facts.text("load_averages"), "0.20 0.18 0.12");
  EXPECT_EQ(seen->facts.text("clock")->size(), 8U) << *seen->facts.text("clock");
  EXPECT_EQ(*seen->facts.number("available"), 2000U * 1024);
  EXPECT_EQ(*seen->facts.number("total"), 5000U * 1024);
  ASSERT_EQ(seen->rows.size(), 2U);
  EXPECT_EQ(*seen->rows[0].text("comm"), "larger");
  EXPECT_EQ(*seen->rows[1].number("pid"), 42U);
}

// RHEL 6 has no RssAnon in /proc/PID/status, and the victim is giving its memory back.
TEST_F(ObserverTest, what_a_victim_had_is_what_the_kernel_has_logged) {
  write("42/status", "Name:\thog\nVmSize:\t 8 kB\nVmRSS:\t 4 kB\n");
  Event event;
  event.time_ns = 5;
  event.tid = 13;
  event.payload = SignalSent{.signal = 9, .pid = 42};
  const auto log = [] {
    return std::string(
        "<3>Killed process 42, UID 0, (hog) total-vm:80kB, anon-rss:40kB, file-rss:20kB\n");
  };
  ProcObserver observer(ProcFolder{.path = std::string(dir_.path()), .kernel_log = log});
  observer.on(event, seen_);
  const Observation* seen = seen_.find("oom", 5, 13);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen->facts.number("victim_vm"), 80U * 1024);
  EXPECT_EQ(*seen->facts.number("victim_anon"), 40U * 1024);
  EXPECT_EQ(*seen->facts.number("victim_file"), 20U * 1024);
}

TEST_F(ObserverTest, memory_and_cpus_of_the_nodes_are_read_at_the_end) {
  std::filesystem::create_directories(std::filesystem::path(dir_.path()) / "proc");
  write("sys/devices/system/memory/block_size_bytes", "8000000\n");
  write("sys/devices/system/node/node1/cpulist", "2-3\n");
  for (const char* block : {"memory0", "memory1", "memory40"}) {
    write(std::string("sys/devices/system/node/node1/") + block + "/online", "1\n");
  }
  Event event;
  event.payload = PageFault{.stage = FaultStage::Minor, .physical_address = 0x1000};
  ProcObserver observer(ProcFolder{std::string(dir_.path()) + "/proc"});
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
  observer.at_end(9, seen_);
  const Observation* nodes = seen_.last("nodes");
  ASSERT_NE(nodes, nullptr);
  ASSERT_EQ(nodes->rows.size(), 4U);  // two CPUs, two ranges
  EXPECT_EQ(*nodes->rows[1].number("cpu"), 3U);
  EXPECT_EQ(*nodes->rows[2].number("limit"), 0x10000000U);
  EXPECT_EQ(*nodes->rows[3].number("start"), 40UL * 0x8000000);
  EXPECT_EQ(*nodes->rows[3].number("node"), 1U);
}

TEST_F(ObserverTest, free_memory_is_read_when_a_process_has_reclaimed) {
  write("meminfo", "MemFree:     1000 kB\n");
  write("12/status", "Name:\tx\nUid:\t7\t0\t0\t0\n");
  Event event;
  event.time_ns = 5;
  event.pid = event.tid = 12;
  ProcObserver observer(ProcFolder{dir_.path()});
  event.payload = Work{.begin = {}, .end = {.kind = WorkKind::SlabShrink}};
  observer.on(event, seen_);
  EXPECT_TRUE(seen_.empty());
  event.payload = Work{.begin = {}, .end = {.kind = WorkKind::MemcgReclaim}};
  observer.on(event, seen_);
  const Observation* seen = seen_.find("reclaim", 5, 12);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen->facts.number("free"), 1000U * 1024);
  EXPECT_EQ(*seen->facts.number("uid"), 7U);
}

}  // namespace
}  // namespace memtrace::test
