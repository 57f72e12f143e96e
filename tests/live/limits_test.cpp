// Where things run out: rights, disk, tracefs, time. Nothing is lost quietly, nothing crashes.
#include <fcntl.h>
#include <sys/ioctl.h>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class LimitsTest : public LiveTest {
 protected:
  // Programs of a root's home cannot be run by others: a copy of memtrace can.
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    run_well(
        "cp $MEMTRACE $PUPPETS/many_kmallocs $PUPPETS/touch_pages . && chmod 755 ./* && "
        "mkdir -m 777 work");
  }

  // A pipe holds 64 KiB unless told otherwise (pipe(7)), less what is left of its last page.
  static bool is_full(const UniqueFd& reader) {
    int held_bytes = 0;
    return ::ioctl(reader.get(), FIONREAD, &held_bytes) == 0 && held_bytes > 60 * 1024;
  }

  Outcome run_as_nobody(const std::string& words) {
    return run("cd work && setpriv --reuid=nobody --regid=nogroup --clear-groups " + words);
  }
};

TEST_F(LimitsTest, nobody_is_told_what_tracepoints_need) {
  const Outcome outcome = run_as_nobody("../memtrace record -- true");
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("Permission denied")) << outcome.all();
  EXPECT_TRUE(outcome.says("hint: run memtrace as root")) << outcome.all();
}

// What nobody may do depends on kernel.perf_event_paranoid: either it is done, or it is said why
// not. Never a file without samples and without a word.
TEST_F(LimitsTest, nobody_gets_software_faults_or_the_capability_and_the_sysctl) {
  const bool allowed = std::stoi(text_of("/proc/sys/kernel/perf_event_paranoid")) <= 2;
  for (const char* events : {"-e minor-faults", "-e page-faults", "--for faults"}) {
    const Outcome outcome =
        run_as_nobody("../memtrace record " + std::string(events) + " -- ../touch_pages 500");
    EXPECT_EQ(outcome.status, allowed ? 0 : 1) << outcome.all();
    if (outcome.status == 0) {
      EXPECT_TRUE(outcome.says("only user mode was watched")) << outcome.all();
      const Json faults = report("faults --user --top 0 -i work/memtrace.data");
      EXPECT_EQ(sum_at_function(faults, "touch_fresh_pages"), 500U);
      EXPECT_NE(faults.at("caveats").dump().find("only user mode"), std::string::npos);
      continue;
    }
    for (const char* part : {"perf_event_open(", "CAP_PERFMON", "kernel.perf_event_paranoid is "}) {
      EXPECT_TRUE(outcome.says(part)) << outcome.all();
    }
  }
  const Outcome live = run_as_nobody("../memtrace faults --format json -- ../touch_pages 500");
  EXPECT_EQ(live.status, allowed ? 0 : 1) << live.all();
}

TEST_F(LimitsTest, nobody_is_told_what_watching_others_needs) {
  const Outcome outcome = run_as_nobody("../memtrace record -a -e page-faults");
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("CAP_PERFMON")) << outcome.all();
}

TEST_F(LimitsTest, nobody_reads_a_recording_that_it_may_read) {
  run_well("$MEMTRACE record --for kmalloc -o work/k.data -- ./many_kmallocs 60");
  run_well("chmod 644 work/k.data");
  const Outcome outcome = run_as_nobody("../memtrace report kmalloc -i k.data");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_NE(outcome.out.find("send_messages"), std::string::npos) << outcome.all();
  run_well("chmod 600 work/k.data");
  const Outcome refused = run_as_nobody("../memtrace report kmalloc -i k.data");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.says("Permission denied")) << refused.all();
}

// The figure that the project is measured by: a compile, the whole machine, six hot events.
TEST_F(LimitsTest, compile_is_recorded_without_loss) {
  if (run("g++ --version").status != 0) {
    GTEST_SKIP() << "g++ is not installed: there is nothing to compile with";
  }
  const Outcome outcome = run_well(
      "$MEMTRACE record -a --kernel -e kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,"
      "kmem:kmem_cache_free,kmem:mm_page_alloc,kmem:mm_page_free -- "
      "g++ -O1 -c -o compiled.o $LIVE_TEST_DATA/compile_me.cpp");
  EXPECT_TRUE(outcome.says("none lost")) << outcome.all();
  const Json overview = report("--all -i memtrace.data");
  EXPECT_EQ(lost_in(overview), 0U);
  EXPECT_EQ(overview.at("caveats").at("cut"), 0U);
  EXPECT_GT(overview.at("totals").at("samples"), 100'000U);
}

// A full ring: the kernel drops, and every event is either in the file or counted as lost.
TEST_F(LimitsTest, loss_in_a_tiny_ring_is_counted_to_the_last_event) {
  // A recorder that is stopped reads no ring: the first thousand cannot all fit into it.
  const Outcome outcome = run_well(
      "$MEMTRACE record -m 4K -e kmem:kmalloc --call-graph none --filter 'bytes_req == 1048' -- "
      "sh -c 'kill -STOP $PPID; ./many_kmallocs 1000; kill -CONT $PPID; ./many_kmallocs 50000'");
  const Json kmalloc = report("kmalloc");
  const std::uint64_t seen = kmalloc.at("totals").at("count");
  // Lost records are counted whatever they are: a puppet's mmap, comm or exit may be there.
  EXPECT_GE(seen + lost_in(kmalloc), 51'000U) << kmalloc.at("caveats") << outcome.err;
  EXPECT_LE(seen + lost_in(kmalloc), 51'050U) << kmalloc.at("caveats") << outcome.err;
  EXPECT_GT(lost_in(kmalloc), 0U);
}

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    mounted_ =
        std::system(("mkdir " + folder + " && mount -t tmpfs -o size=512k memtrace-test " + folder)
                        .c_str()) == 0;
  }

  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  ~SmallDisk() {
    if (mounted_ && std::system(("umount " + folder_).c_str()) != 0) {
      std::system(("umount -l " + folder_).c_str());
    }
  }

  bool mounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

class FullDiskTest : public LimitsTest, public testing::WithParamInterface<bool> {};

TEST_P(FullDiskTest, is_told_and_leaves_a_file_that_can_be_read) {
  const SmallDisk disk(dir_.file("disk"));
  if (!disk.mounted()) {
    GTEST_SKIP() << "a tmpfs cannot be mounted here: no disk can be made full";
  }
  const bool is_compressed = GetParam();
  const std::uint64_t messages = is_compressed ? 400'000 : 20'000;
  const Outcome outcome = run("$MEMTRACE record -e kmem:kmalloc --filter 'bytes_req == 1048' " +
                              std::string(is_compressed ? "" : "--no-compress ") +
                              "-o disk/m.data -- ./many_kmallocs " + std::to_string(messages));
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("disk full") || outcome.says("No space left")) << outcome.all();
  const Json kmalloc = report("kmalloc -i disk/m.data");
  const std::uint64_t written = kmalloc.at("totals").at("count");
  EXPECT_GT(written, 0U);
  EXPECT_EQ(written + kmalloc.at("caveats").at("disk_full").get<std::uint64_t>(), messages)
      << kmalloc.at("caveats");
  EXPECT_GT(lost_in(kmalloc), 0U) << "lost is the sum of all that is missing";
  if (run("perf version").status == 0) {
    EXPECT_EQ(own_counts("disk/m.data"), perf_counts("disk/m.data"));
  }
}

INSTANTIATE_TEST_SUITE_P(of_compressed_files, FullDiskTest, testing::Bool());

// A pager that nobody scrolls, a network that hangs: a signal ends memtrace and what it started.
TEST_F(LimitsTest, pipe_that_stands_still_does_not_keep_memtrace_from_ending) {
  run_well("mkfifo pipe");
  const UniqueFd reader(::open(dir_.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto memtrace = start_recording(
      "exec $MEMTRACE record -o - -e kmem:kmalloc -- "
      "sh -c './many_kmallocs 1000000; exec sleep 4567' > pipe");
  EXPECT_TRUE(wait_until([&reader] { return is_full(reader); }));
  const auto begin = std::chrono::steady_clock::now();
  memtrace->signal(SIGTERM);
  const Outcome outcome = memtrace->wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("the reader of the pipe has stopped reading")) << outcome.all();
  EXPECT_TRUE(outcome.says("hint: ")) << outcome.all();
  EXPECT_NE(run("pgrep -f '[m]any_kmallocs 1000000|[s]leep 4567'").status, 0);
}

// A pipe holds 64 KiB by default (pipe(7)): it is full before memtrace begins.
TEST_F(LimitsTest, pipe_that_stands_still_does_not_keep_a_live_view_from_ending) {
  run_well("mkfifo pipe");
  const UniqueFd reader(::open(dir_.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto memtrace =
      start_recording("exec > pipe; head -c 65536 /dev/zero; exec $MEMTRACE kmalloc -a 0.1");
  const auto begin = std::chrono::steady_clock::now();
  memtrace->signal(SIGTERM);
  const Outcome outcome = memtrace->wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("write(standard output): nobody reads it")) << outcome.all();
}

TEST_F(LimitsTest, full_disk_behind_standard_output_is_told_as_such) {
  const Outcome outcome =
      run("$MEMTRACE record -o - -e kmem:kmalloc -- ./many_kmallocs 100 > /dev/full");
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("write(standard output): No space left on device")) << outcome.all();
  EXPECT_TRUE(outcome.says("hint: standard output goes to a disk that is full")) << outcome.all();
}

TEST_F(LimitsTest, rings_larger_than_the_memory_are_refused) {
  const Outcome outcome = run("$MEMTRACE record -m 100T -- true");
  EXPECT_EQ(outcome.status, 2) << outcome.all();
  EXPECT_TRUE(outcome.says("--ring-size: 100.0 TiB for each of ")) << outcome.all();
  EXPECT_TRUE(outcome.says("hint: give at most ")) << outcome.all();
}

TEST_F(LimitsTest, tracefs_that_is_not_mounted_is_mounted_and_said) {
  if (run("unshare -m true").status != 0) {
    GTEST_SKIP() << "a mount namespace cannot be made here: tracefs cannot be hidden";
  }
  const std::string before = text_of("/proc/mounts");
  const Outcome outcome = run_well(
      "unshare -m sh -c 'umount -a -t tracefs; umount -a -t debugfs; "
      "! grep -q -e tracefs -e debugfs /proc/mounts && "
      "exec $MEMTRACE record -e kmem:kmalloc -- ./many_kmallocs 30'");
  EXPECT_TRUE(outcome.says("mounted the kernel's tracing directory on /sys/")) << outcome.all();
  EXPECT_EQ(sum_with_function(report("kmalloc --exclude allocate_slab"), "send_messages"), 30U);
  EXPECT_EQ(text_of("/proc/mounts"), before) << "outside of the namespace nothing changed";
}

TEST_F(LimitsTest, nobody_is_told_when_tracefs_is_not_mounted) {
  if (run("unshare -m true").status != 0) {
    GTEST_SKIP() << "a mount namespace cannot be made here: tracefs cannot be hidden";
  }
  const Outcome outcome =
      run("unshare -m sh -c 'umount -a -t tracefs; umount -a -t debugfs; cd work; "
          "exec setpriv --reuid=nobody --regid=nogroup --clear-groups ../memtrace record -- true'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("tracefs: it is not mounted")) << outcome.all();
  EXPECT_TRUE(outcome.says("hint: ")) << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
