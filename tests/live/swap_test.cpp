// Swap-ins of a known number of pages, with a swap file of the test's own and in a memory cgroup of
// its own, against the kernel's counters.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

// Runs $1 as a member of a memory cgroup with a limit, while there is a swap file. Whatever happens
// both are gone afterwards, and vm.page-cluster is as it was.
constexpr const char* kScript = R"sh(
page_cluster=$(cat /proc/sys/vm/page-cluster)
swap=$PWD/swap.$$
group=
put_back() {
  echo "$page_cluster" > /proc/sys/vm/page-cluster
  # It fails where a page of another's cgroup has no room there at the moment.
  for try in 1 2 3 4 5 6 7 8; do swapoff "$swap" 2>/dev/null && break; sleep 0.5; done
  rm -f "$swap"
  [ -z "$group" ] || { while read -r pid; do echo "$pid" > "${group%/*}/cgroup.procs"; done \
    < "$group/cgroup.procs"; rmdir "$group"; } 2>/dev/null
}
trap put_back EXIT
trap 'exit 1' INT TERM HUP
dd if=/dev/zero of="$swap" bs=1M count=96 status=none && chmod 600 "$swap" &&
  mkswap "$swap" >/dev/null && others=$(($(wc -l < /proc/swaps) - 1)) && swapon "$swap" || { echo no swap; exit 77; }
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  limit=memory.limit_in_bytes
  [ -e "$root/$limit" ] || limit=memory.max
  if [ -e "$root/cgroup.procs" ] && mkdir "$root/memtrace_test_$$" 2>/dev/null; then
    group=$root/memtrace_test_$$
    [ -e "$group/$limit" ] && echo 8M > "$group/$limit" && break
    rmdir "$group"
    group=
  fi
done
[ -z "$group" ] && { echo no memory cgroup; exit 77; }
counter() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
[ -z "$CLUSTER" ] || echo "$CLUSTER" > /proc/sys/vm/page-cluster
# A CPU's part of nr_vmscan_write is added only now and then; this adds all of them.
written() { echo 1 > /proc/sys/vm/stat_refresh; counter nr_vmscan_write; }
swpin=$(counter pswpin) swpout=$(counter pswpout) written=$(written)
$MEMTRACE record --for swapin,anon -- sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$group" \
  $PUPPETS/fault_kinds "$KIND" "$PAGES"
echo "grouped $(awk '$1 == "pgmajfault" { print $2 }' "$group/memory.stat")"
echo "others $others"
echo "pswpin $(($(counter pswpin) - swpin)) pswpout $(($(counter pswpout) - swpout))"
echo "written $(($(written) - written))"
)sh";

class SwapTest : public LiveTest {
 protected:
  struct Counted {
    std::uint64_t major = 0;  // by getrusage(2)
    std::uint64_t in = 0;     // by /proc/vmstat
    std::uint64_t out = 0;
    std::uint64_t written = 0;  // those that were free by then among them
    std::uint64_t others = 0;   // swap files that were there before: others may swap, too
    std::uint64_t grouped = 0;  // major faults by the memory cgroup's memory.stat
  };

  // False when the machine has no way to swap.
  bool play(const char* kind, int pages, const std::string& page_cluster) {
    const std::string settings = std::string("KIND=") + kind + " PAGES=" + std::to_string(pages) +
                                 " CLUSTER=" + page_cluster;
    const Outcome outcome = run(settings + "\n" + kScript);
    if (outcome.status == 77) {
      why_not_ = outcome.out;
      return false;
    }
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    std::istringstream words(outcome.out);
    std::string word;
    while (words >> word) {
      std::uint64_t* const figure = word == "major"     ? &counted_.major
                                    : word == "pswpin"  ? &counted_.in
                                    : word == "pswpout" ? &counted_.out
                                    : word == "written" ? &counted_.written
                                    : word == "grouped" ? &counted_.grouped
                                    : word == "others"  ? &counted_.others
                                                        : nullptr;
      if (figure != nullptr) {
        words >> *figure;
      }
    }
    return true;
  }

  std::uint64_t of_puppet(const Json& view, const char* figure) {
    return figure_of(view, "comm", "fault_kinds", figure);
  }

  Counted counted_;
  std::string why_not_;
};

TEST_F(SwapTest, without_readahead_each_page_is_a_swap_in_of_its_own) {
  if (!play("swap", 400, "0")) {
    GTEST_SKIP() << why_not_;
  }
  EXPECT_EQ(counted_.major, 400U);
  const Json by_stack = report("swapin --by stack --top 0");
  EXPECT_EQ(sum_with_function(by_stack, "touch_each_page"), 400U);
  EXPECT_EQ(sum_with_function(by_stack, "touch_each_page", "pages"), 400U);
  const Json swapin = report("swapin --by comm");
  EXPECT_GE(of_puppet(swapin, "count"), 400U);  // and a few of its stack and data
  EXPECT_LE(of_puppet(swapin, "count"), 440U);
  EXPECT_GT(of_puppet(swapin, "avg"), 0U);
  const Json anon = report("anon --by comm");
  EXPECT_EQ(of_puppet(anon, "pgin"), of_puppet(swapin, "count"));
  EXPECT_EQ(lost_in(swapin), 0U);
}

TEST_F(SwapTest, pages_read_and_written_are_those_that_the_kernel_counts) {
  if (!play("swap", 400, "0")) {
    GTEST_SKIP() << why_not_;
  }
  if (counted_.others > 0) {
    GTEST_SKIP() << "the machine has other swap: its counters are not of the puppet alone";
  }
  const Json totals = report("swapin").at("totals");
  EXPECT_EQ(totals.at("pages"), counted_.in);
  EXPECT_EQ(totals.at("out"), counted_.written);
  EXPECT_EQ(totals.at("pswpin"), counted_.in);
  EXPECT_EQ(totals.at("pswpout"), counted_.out);
  EXPECT_GE(counted_.out, 400U);
}

TEST_F(SwapTest, with_readahead_fewer_faults_read_the_same_pages) {
  if (!play("swap", 400, "3")) {
    GTEST_SKIP() << why_not_;
  }
  const Json swapin = report("swapin --by comm");
  EXPECT_GE(of_puppet(swapin, "count"), counted_.major);
  EXPECT_LT(of_puppet(swapin, "count"), 400U);
  EXPECT_LE(of_puppet(swapin, "pages"), counted_.in);
  EXPECT_GE(of_puppet(swapin, "pages"), 400U);
  if (counted_.others == 0) {
    EXPECT_EQ(swapin.at("totals").at("pages"), counted_.in);
  }
}

TEST_F(SwapTest, memory_short_by_a_limit_is_swapped_as_the_kernel_counts_it) {
  constexpr int kPages = 4000;  // of which half have room
  if (!play("pressure", kPages, "0")) {
    GTEST_SKIP() << why_not_;
  }
  const Json swapin = report("swapin --by comm");
  const Json& totals = swapin.at("totals");
  EXPECT_GE(of_puppet(swapin, "count"), kPages / 2U);
  if (counted_.others == 0) {
    EXPECT_EQ(totals.at("pages"), counted_.in);
    EXPECT_EQ(totals.at("out"), counted_.written);
  }
  EXPECT_GE(counted_.grouped, of_puppet(swapin, "count"));
  EXPECT_LE(counted_.grouped, of_puppet(swapin, "count") + 100);  // of its program's file
  // It reclaims its own memory: what it swaps out is not what it gives back.
  EXPECT_GT(of_puppet(report("anon --by comm"), "unmap"), kPages / 2U);
}

}  // namespace
}  // namespace memtrace::test
