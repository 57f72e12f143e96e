// count --pair and --last against what perf script says of the same file, line by line.
#include <algorithm>
#include <utility>
#include <vector>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

struct ScriptLine {
  std::uint32_t tid = 0;
  std::uint64_t time_ns = 0;
  std::string event;
  std::string link;  // "ptr=0x..." of its fields; empty without
};

struct PairSum {
  std::uint64_t pairs = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t max_ns = 0;

  void add(std::uint64_t duration_ns) {
    ++pairs;
    time_ns += duration_ns;
    max_ns = std::max(max_ns, duration_ns);
  }
};

// "1234.000056789:" in nanoseconds.
std::uint64_t nanoseconds_of(const std::string& word) {
  const std::size_t point = word.find('.');
  return std::stoull(word.substr(0, point)) * 1'000'000'000 + std::stoull(word.substr(point + 1));
}

class CountTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) {
      need_perf();
    }
  }

  // "  1234 56.000000789: kmem:kmalloc: (fields)"
  std::vector<ScriptLine> script_lines() {
    std::vector<ScriptLine> lines;
    std::istringstream text(
        run_well("perf script -i memtrace.data --ns -F tid,time,event,trace -G").out);
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      ScriptLine& one = lines.emplace_back();
      std::string time;
      words >> one.tid >> time >> one.event;
      one.time_ns = nanoseconds_of(time);
      one.event.pop_back();
      for (std::string word; words >> word;) {
        one.link = word.starts_with("ptr=") ? word : one.link;
      }
    }
    return lines;
  }

  // By the thread of the first event.
  static std::map<std::uint32_t, PairSum> pairs_of(const std::vector<ScriptLine>& lines,
                                                   const std::string& first,
                                                   const std::string& second) {
    std::map<std::string, ScriptLine> begun;
    std::map<std::uint32_t, PairSum> sums;
    for (const ScriptLine& line : lines) {
      const std::string link = line.link.empty() ? std::to_string(line.tid) : line.link;
      if (line.event == first) {
        begun[link] = line;
      } else if (const auto found = begun.find(link);
                 line.event == second && found != begun.end()) {
        sums[found->second.tid].add(line.time_ns - found->second.time_ns);
        begun.erase(found);
      }
    }
    return sums;
  }

  static void expect_same(const Json& count, const std::map<std::uint32_t, PairSum>& sums) {
    std::size_t compared = 0;
    for (const Json& row : count.at("tables").at(0).at("rows")) {
      const auto found = sums.find(row.at("tid").get<std::uint32_t>());
      if (found == sums.end()) {
        EXPECT_EQ(row.value("pairs", Json(0U)), 0U) << row.dump();
        continue;
      }
      ++compared;
      EXPECT_EQ(row.at("pairs"), found->second.pairs) << row.dump();
      EXPECT_EQ(row.at("time_ns"), found->second.time_ns) << row.dump();
      EXPECT_EQ(row.at("max_ns"), found->second.max_ns) << row.dump();
    }
    EXPECT_EQ(compared, sums.size()) << count.dump(1);
  }
};

TEST_F(CountTest, pairs_of_a_thread_take_as_long_as_perf_script_says) {
  run_well(
      "echo | $MEMTRACE record --call-graph none -e syscalls:sys_enter_msgsnd "
      "-e syscalls:sys_exit_msgsnd -- $PUPPETS/crowd 300");
  const Json count =
      report("count --top 0 --by tid --pair syscalls:sys_enter_msgsnd,syscalls:sys_exit_msgsnd");
  ASSERT_EQ(lost_in(count), 0U);
  const auto sums =
      pairs_of(script_lines(), "syscalls:sys_enter_msgsnd", "syscalls:sys_exit_msgsnd");
  std::uint64_t of_senders = 0;  // the main thread sends twice: see the puppet
  for (const auto& [tid, sum] : sums) {
    of_senders += sum.pairs;
  }
  EXPECT_EQ(of_senders, 5U * 300U);
  EXPECT_GE(sums.size(), 4U);
  expect_same(count, sums);
}

TEST_F(CountTest, pairs_by_a_field_take_as_long_as_perf_script_says) {
  run_well(
      "$MEMTRACE record --call-graph none -e kmem:kmalloc -e kmem:kfree "
      "-- $PUPPETS/cross_cpu 300");
  const Json count = report("count --top 0 --by tid --pair 'kmem:kmalloc(ptr),kmem:kfree(ptr)'");
  ASSERT_EQ(lost_in(count), 0U);
  const auto sums = pairs_of(script_lines(), "kmem:kmalloc", "kmem:kfree");
  std::uint64_t pairs = 0;
  for (const auto& [tid, sum] : sums) {
    pairs += sum.pairs;
  }
  EXPECT_GE(pairs, 300U);
  expect_same(count, sums);
}

TEST_F(CountTest, last_events_are_the_last_lines_of_perf_script) {
  run_well(
      "$MEMTRACE record --call-graph none -e kmem:kmalloc -e kmem:kfree "
      "-- $PUPPETS/cross_cpu 300");
  constexpr std::size_t kLast = 40;
  const Json count = report("count --by event,tid,ptr --last " + std::to_string(kLast));
  const Json& listed = count.at("tables").at(1).at("rows");
  const std::vector<ScriptLine> lines = script_lines();
  ASSERT_GT(lines.size(), 600U);
  ASSERT_EQ(listed.size(), kLast);
  const std::size_t start = lines.size() - kLast;
  const auto recorded_from_ns = count.at("start_ns").get<std::uint64_t>();
  for (std::size_t i = 0; i < kLast; ++i) {
    const Json& row = listed.at(i);
    const ScriptLine& line = lines.at(start + i);
    EXPECT_EQ(row.at("event"), line.event) << i;
    EXPECT_EQ(row.at("tid"), line.tid) << i;
    EXPECT_EQ(row.at("at_ns").get<std::uint64_t>() + recorded_from_ns, line.time_ns) << i;
  }
}

// Of events by their name or CPU the kernel counts all, and none is a sample that can be lost.
class KernelCountTest : public LiveTest {
 protected:
  static std::uint64_t count_of(const Json& count, const std::string& event) {
    std::uint64_t sum = 0;
    for (const Json& row : count.at("tables").at(0).at("rows")) {
      sum += row.value("event", event) == event ? row.at("count").get<std::uint64_t>() : 0;
    }
    return sum;
  }

  // The number in the line of `perf stat -x,` for this event.
  std::uint64_t perf_count(const std::string& file, const std::string& event) {
    std::istringstream lines(text_of(dir_.file(file)));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(event) != std::string::npos) {
        return std::stoull(line);
      }
    }
    ADD_FAILURE() << text_of(dir_.file(file));
    return 0;
  }

  const std::string kmallocs_ = "$MEMTRACE count -e kmem:kmalloc --filter 'bytes_req == 1048' ";
};

TEST_F(KernelCountTest, command_and_its_children_are_counted) {
  const Json count = json_of(kmallocs_ +
                             "--format json -- sh -c '$PUPPETS/many_kmallocs 20000 >&2; "
                             "$PUPPETS/many_kmallocs 300 >&2'");
  EXPECT_EQ(count_of(count, "kmem:kmalloc"), 20300U) << count.dump(1);
  EXPECT_EQ(lost_in(count), 0U);
}

TEST_F(KernelCountTest, cpus_add_up) {
  const Json count = json_of(kmallocs_ +
                             "--by cpu --format json -- sh -c '"
                             "taskset 1 $PUPPETS/many_kmallocs 2000 >&2; "
                             "taskset 2 $PUPPETS/many_kmallocs 300 >&2'");
  std::map<std::uint64_t, std::uint64_t> by_cpu;
  for (const Json& row : count.at("tables").at(0).at("rows")) {
    by_cpu[row.at("cpu")] = row.at("count");
  }
  EXPECT_EQ(by_cpu, (std::map<std::uint64_t, std::uint64_t>{{0, 2000}, {1, 300}}));
}

TEST_F(KernelCountTest, intervals_add_up) {
  const Outcome outcome = run_well(
      kmallocs_ +
      "--format json 0.2 -- sh -c 'for i in 1 2 3 4 5 6; do $PUPPETS/many_kmallocs 1000 >&2; "
      "sleep 0.1; done'");
  std::istringstream text(outcome.out);
  std::uint64_t sum = 0;
  std::size_t with_events = 0;
  while (text >> std::ws && !text.eof()) {
    Json report;
    text >> report;
    const std::uint64_t count = count_of(report, "kmem:kmalloc");
    sum += count;
    with_events += count > 0 ? 1U : 0U;
  }
  EXPECT_EQ(sum, 6000U) << outcome.all();
  EXPECT_GE(with_events, 3U) << outcome.all();
}

// An interval without its own events would have those of the one before.
TEST_F(KernelCountTest, counts_are_of_the_interval_in_which_the_events_happened) {
  const Outcome outcome =
      run_well(kmallocs_ +
               "-a --format json 1 2 >out & COUNTER=$!; sleep 0.4; $PUPPETS/many_kmallocs 500 >&2; "
               "wait $COUNTER; cat out");
  std::istringstream text(outcome.out);
  std::vector<std::uint64_t> counts;
  while (text >> std::ws && !text.eof()) {
    Json report;
    text >> report;
    counts.push_back(count_of(report, "kmem:kmalloc"));
  }
  ASSERT_EQ(counts.size(), 2U) << outcome.all();
  EXPECT_GE(counts[0], 500U) << outcome.all();
  EXPECT_LT(counts[1], 100U) << outcome.all();
}

TEST_F(KernelCountTest, faults_of_a_process_are_those_that_perf_stat_counts) {
  need_perf();
  const Json count = json_of(
      "perf stat -x, -e minor-faults -o perf.txt -- $MEMTRACE count -e minor-faults "
      "--format json -- sh -c '$PUPPETS/touch_pages 5000 >&2' 2>err");
  // What the shell and the puppet fault beside its pages is their start: 100 to 300.
  EXPECT_GE(count_of(count, "minor-faults"), 5000U);
  EXPECT_LE(count_of(count, "minor-faults"), 5600U);
  EXPECT_LE(count_of(count, "minor-faults"), perf_count("perf.txt", "minor-faults"));
}

// Beside perf stat, which counts memtrace, too.
TEST_F(KernelCountTest, whole_machine_is_counted_as_by_perf_stat) {
  need_perf();
  run_well(
      "begin $MEMTRACE count -a -e kmem:kmalloc --filter 'bytes_req == 1048' --format json "
      ">count.json; "
      "perf stat -x, -o perf.txt -a -e kmem:kmalloc --filter 'bytes_req == 1048' "
      "$PUPPETS/many_kmallocs 50000; kill -INT $RECORDER; wait $RECORDER");
  const Json count = Json::parse(text_of(dir_.file("count.json")));
  const std::uint64_t by_perf = perf_count("perf.txt", "kmem:kmalloc");
  EXPECT_GE(by_perf, 50000U);
  EXPECT_GE(count_of(count, "kmem:kmalloc"), by_perf);
  EXPECT_LE(count_of(count, "kmem:kmalloc"), by_perf + by_perf / 100);
}

TEST_F(KernelCountTest, what_memtrace_does_itself_is_not_counted) {
  need_perf();
  const Json count = json_of(
      "perf stat -x, -o perf.txt -a -e kmem:kmalloc --filter 'comm == \"memtrace\"' "
      "$MEMTRACE count -a -e kmem:kmalloc --filter 'comm == \"memtrace\"' -d 1 --format json || "
      "true");
  EXPECT_GT(perf_count("perf.txt", "kmem:kmalloc"), 10U);
  EXPECT_EQ(count_of(count, "kmem:kmalloc"), 0U);
}

TEST_F(KernelCountTest, calls_of_a_probed_function_are_counted) {
  const Json count = json_of(
      "$MEMTRACE count -e 'uprobe:'$PUPPETS/heap_calls':main' --format json "
      "-- sh -c '$PUPPETS/heap_calls 10 >&2; $PUPPETS/heap_calls 10 >&2'");
  std::uint64_t sum = 0;
  for (const Json& row : count.at("tables").at(0).at("rows")) {
    sum += row.at("count").get<std::uint64_t>();
  }
  EXPECT_EQ(sum, 2U) << count.dump(1);
}

}  // namespace
}  // namespace memtrace::test
