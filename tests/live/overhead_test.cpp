// --max-overhead: fewer samples, figures that stay true within their bars, and probes that are
// there for a part of the time only where each hit costs too much.
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class OverheadTest : public LiveTest {
 protected:
  static std::string notes_of(const Json& report) { return report.at("caveats").dump(); }

  // Of the messages of the puppets, in puppets/many_kmallocs.cpp.
  static Json messages_of(const Json& report) {
    Json found;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      found = row.dump().find("1048") != std::string::npos ? row : found;
    }
    return found;
  }

  // A bar of 95 % twice as long is left by one run of 10,000.
  static void expect_within_bars(const Json& report, double truth) {
    constexpr double kBytes = 1048;
    const Json row = messages_of(report);
    ASSERT_FALSE(row.is_null()) << report.dump();
    const double error = row.at("error").get<double>();
    const double bytes_error = row.at("bytes_error").get<double>();
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 100);  // wide where others take the CPUs: fewer events are recorded then
    EXPECT_NEAR(row.at("count").get<double>(), truth, truth * 2 * error / 100)
        << row.dump() << notes_of(report);
    EXPECT_NEAR(
        row.at("bytes_req").get<double>(), kBytes * truth, kBytes * truth * 2 * bytes_error / 100);
  }
};

// 400,000 kmallocs of 1048 bytes (puppets/many_kmallocs.cpp), and few others of other sizes.
TEST_F(OverheadTest, a_sampled_count_lies_within_its_bar_of_the_truth) {
  constexpr double kTruth = 400'000;
  run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 3% -- $PUPPETS/many_kmallocs 400000");
  const Json kmalloc = report("kmalloc --by size --top 0");
  expect_within_bars(kmalloc, kTruth);
  EXPECT_NE(notes_of(kmalloc).find("to keep the overhead below 3 %"), std::string::npos);
  EXPECT_NE(notes_of(kmalloc).find("estimated overhead: "), std::string::npos);
}

// Counting alone costs it more than 1 %.
TEST_F(OverheadTest, a_program_that_costs_too_much_to_count_is_watched_in_windows) {
  constexpr double kTruth = 1'000'000;
  run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 1% -- $PUPPETS/many_kmallocs 1000000");
  const Json kmalloc = report("kmalloc --by size --top 0");
  expect_within_bars(kmalloc, kTruth);
  EXPECT_NE(notes_of(kmalloc).find("watched in windows only"), std::string::npos)
      << notes_of(kmalloc);
  // Perf multiplies alike: the period of an event in the file is what a sample counts for.
  std::istringstream periods(run_well("perf script -F event,period -G -i memtrace.data").out);
  double by_perf = 0;
  double period = 0;
  for (std::string name; periods >> period >> name;) {
    by_perf += period;
  }
  const Json& totals = kmalloc.at("totals");
  EXPECT_EQ(by_perf, totals.at("count").get<double>()) << totals.dump();
}

TEST_F(OverheadTest, a_count_stays_within_its_bar_when_the_rate_changes_by_ten_times) {
  const std::string sent =
      run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 2% -- $PUPPETS/change_rate 20 1200")
          .out;
  const std::size_t at = sent.find("kmallocs ");
  ASSERT_NE(at, std::string::npos) << sent;
  expect_within_bars(report("kmalloc --by size --top 0"), std::stod(sent.substr(at + 9)));
}

TEST_F(OverheadTest, a_program_that_does_little_is_recorded_whole) {
  run_well(
      "$PUPPETS/touch_pages 1 2>/dev/null >/dev/null\n"
      "(exec sh -c 'i=0; while [ $i -lt 30 ]; do i=$((i+1)); sleep 0.1; done') & worker=$!\n"
      "$MEMTRACE record -e kmem:kmalloc --max-overhead 50% -d 1 -p $worker; kill $worker");
  const Json kmalloc = report("kmalloc");
  EXPECT_EQ(notes_of(kmalloc).find("to keep the overhead below"), std::string::npos)
      << notes_of(kmalloc);
  EXPECT_EQ(kmalloc.dump().find("\"error\""), std::string::npos);
  EXPECT_NE(notes_of(kmalloc).find("estimated overhead"), std::string::npos);
  EXPECT_EQ(notes_of(kmalloc).find("at most 0 %"), std::string::npos) << notes_of(kmalloc);
}

// A probe costs about as much as the work of a call. The program is the child of a shell, so that
// the windows have to find it. A bar of 95 % twice as long is left by one run of 10,000.
TEST_F(OverheadTest, probes_that_cost_too_much_are_there_in_windows_and_figures_hold_the_truth) {
  constexpr double kCalls = 5'000'000;
  const Outcome outcome = run_well(
      "$MEMTRACE record --for leaks,faults --max-overhead 3% -- "
      "sh -c '$PUPPETS/three_sites 5000000; true'");
  EXPECT_TRUE(outcome.says("user probes were limited to windows")) << outcome.all();
  EXPECT_TRUE(outcome.says("and 3 % is the limit")) << outcome.all();
  const std::size_t told = outcome.err.find("limited to windows");
  EXPECT_EQ(outcome.err.find("limited to windows", told + 1), std::string::npos) << outcome.all();
  const Json heap = report("heap --by stack --sort allocs");
  EXPECT_NE(notes_of(heap).find("one in each second at a random time"), std::string::npos)
      << notes_of(heap);
  const Json& rows = heap.at("tables").at(0).at("rows");
  constexpr auto kSites = std::to_array<std::pair<const char*, double>>(
      {{"first_site", 0.6}, {"second_site", 0.3}, {"third_site", 0.1}});
  ASSERT_GE(rows.size(), kSites.size()) << heap.dump(1);
  for (std::size_t i = 0; i < kSites.size(); ++i) {
    const Json& row = rows.at(i);
    EXPECT_NE(row.dump().find(kSites[i].first), std::string::npos) << row.dump(1);
    const double truth = kCalls * kSites[i].second;
    EXPECT_NEAR(
        row.at("allocs").get<double>(), truth, truth * 2 * row.at("error").get<double>() / 100)
        << row.dump(1) << notes_of(heap);
  }
  // Faults cost too little to be limited: the probes are.
  EXPECT_NE(report("faults").at("totals").at("count"), 0);
}

TEST_F(OverheadTest, a_leak_is_found_in_windows_and_what_is_freed_is_none) {
  constexpr double kLeaked = 300 * 25'000;
  run_well("$MEMTRACE record --for leaks --max-overhead 3% -- $PUPPETS/three_sites 2500000");
  const Json leaks = report("leaks --by stack");
  const Json& row = leaks.at("tables").at(0).at("rows").at(0);
  EXPECT_NE(row.dump().find("third_site"), std::string::npos) << leaks.dump(1);
  // Of what was allocated before the last window, nobody knows what was freed later.
  EXPECT_LE(row.at("at_least").get<double>(), kLeaked) << row.dump(1);
  EXPECT_GT(row.at("bytes").get<double>(), kLeaked / 4) << row.dump(1);
  EXPECT_LT(row.at("bytes").get<double>(), kLeaked * 4) << row.dump(1);
}

// It does nothing but call, so that nearly all the time of a window is its probes'. The limit
// leaves it no window. The numbers are of the definitions of probes, before the storm and after it;
// the kernel takes a while to remove them.
TEST_F(OverheadTest, probes_that_cost_too_much_even_in_windows_are_removed) {
  const Outcome outcome =
      run("$MEMTRACE record --for leaks,faults --max-overhead 0.1% -- sh -c '"
          "defined() { grep -c memtrace_heap_$PPID/ /sys/kernel/tracing/uprobe_events; }\n"
          "defined; $PUPPETS/heap_storm 1 20000000\n"
          "for i in 1 2 3 4 5 6 7 8 9 10; do defined >/dev/null || break; sleep 0.5; done\n"
          "defined || true'");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_TRUE(outcome.says("user probes were removed")) << outcome.all();
  EXPECT_TRUE(outcome.says("and 0.1 % is the limit")) << outcome.all();
  std::istringstream numbers(outcome.out);
  int before = 0;
  int after = -1;
  numbers >> before >> after;
  EXPECT_GT(before, 0) << outcome.all();
  EXPECT_EQ(after, 0) << "definitions are left: " << outcome.all();
  const Json leaks = report("leaks --by comm");
  EXPECT_NE(notes_of(leaks).find("user probes were removed"), std::string::npos) << notes_of(leaks);
  // Of what was allocated before, nobody knows what was freed later.
  const Json& rows = leaks.at("tables").at(0).at("rows");
  ASSERT_FALSE(rows.empty()) << leaks.dump(1);
  EXPECT_EQ(rows.at(0).at("at_least"), 0) << leaks.dump(1);
  EXPECT_NE(report("faults").at("totals").at("count"), 0);
}

// Those of the uprobe PMU cannot be in windows: they are refused at the start, and removed later.
TEST_F(OverheadTest, probes_that_cannot_be_in_windows_are_refused_or_removed) {
  const std::string hide = "unshare -m sh -c 'mount -t tmpfs -o ro none /sys/kernel && exec ";
  if (run(hide + "true'").status != 0 ||
      !std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "no mount namespaces here, or no uprobe PMU";
  }
  const Outcome refused =
      run("$PUPPETS/heap_storm 1 100000000 >/dev/null & storm=$!; sleep 0.3\n" + hide +
          "$MEMTRACE record --for malloc --max-overhead 1% -d 1 -p '$storm; "
          "status=$?\nkill $storm; exit $status");
  EXPECT_EQ(refused.status, 1) << refused.all();
  EXPECT_TRUE(refused.says("times a second")) << refused.all();
  EXPECT_TRUE(refused.says("1 % is the limit")) << refused.all();
  EXPECT_TRUE(refused.says("growth")) << refused.all();
  const Outcome removed = run_well(hide +
                                   "$MEMTRACE record --for leaks --max-overhead 3% -- "
                                   "$PUPPETS/three_sites 2000000'");
  EXPECT_TRUE(removed.says("user probes were removed")) << removed.all();
  EXPECT_FALSE(removed.says("windows")) << removed.all();
}

// It runs already, at full speed: nothing is refused.
TEST_F(OverheadTest, a_program_that_is_busy_at_the_start_is_watched_in_windows_at_once) {
  const Outcome outcome =
      run("$PUPPETS/three_sites 100000000 & busy=$!; sleep 0.3\n"
          "$MEMTRACE record --for malloc --max-overhead 3% -d 4 -p $busy; status=$?\n"
          "kill $busy; exit $status");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_TRUE(outcome.says("user probes were limited to windows")) << outcome.all();
  EXPECT_FALSE(outcome.says("after the start, user probes")) << outcome.all();
  const Json malloc = report("malloc --by stack --sort count");
  EXPECT_NE(malloc.at("tables").at(0).at("rows").at(0).dump().find("first_site"), std::string::npos)
      << malloc.dump(1);
}

std::string bytes_of(const std::string& path, std::uint64_t offset, std::uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, 0);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// Bytes of libc's code that are not those of its file, in the memory of this process. -1: unknown.
std::int64_t changed_code(int pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream maps(proc + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t offset = 0;
    std::istringstream words(line);
    std::string flags;
    char dash = 0;
    words >> std::hex >> from >> dash >> to >> flags >> offset;
    if (flags != "r-xp" || line.find("/libc.so.6") == std::string::npos) {
      continue;
    }
    const std::string file = line.substr(line.find('/'));
    const std::string original = bytes_of(file, offset, to - from);
    const std::string now = bytes_of(proc + "/mem", from, original.size());
    std::int64_t changed = now.size() == original.size() ? 0 : -1;
    for (std::size_t i = 0; i < now.size(); ++i) {
      changed += now[i] != original[i];
    }
    return changed;
  }
  return -1;
}

// The kernel takes longer to switch to and from a task that has events. Nothing can be recorded
// less for that: memtrace says it while it records. Events of a CPU do not cost that.
TEST_F(OverheadTest, switches_that_cost_too_much_are_told_at_once) {
  const std::string told = "us more because the task has events";
  const auto recorder =
      start("exec $MEMTRACE record --for faults --max-overhead 1% -- $PUPPETS/ping_pong 6 2>said");
  EXPECT_TRUE(wait_until([&] { return run("cat said >&2").says(told); }, std::chrono::seconds(5)));
  EXPECT_EQ(recorder->wait().status, 0);
  EXPECT_TRUE(run("cat said >&2").says("the overhead was not kept below 1 %"))
      << run("cat said >&2").all();
  EXPECT_NE(notes_of(report("faults")).find(told), std::string::npos);
  const Outcome whole =
      run_well("$MEMTRACE record -a --for faults --max-overhead 1% -- $PUPPETS/ping_pong 3");
  EXPECT_FALSE(whole.says(told)) << whole.all();
}

// The traps of its own calls would take memtrace's time from the programs.
TEST_F(OverheadTest, memtrace_itself_runs_without_breakpoints) {
  const auto busy = start("exec $PUPPETS/three_sites 100000000");
  const std::string tasks = "-p " + std::to_string(busy->pid());
  const auto recorder =
      start("exec $MEMTRACE record --for malloc --max-overhead 3% -d 20 " + tasks);
  ASSERT_TRUE(wait_until([&] { return changed_code(busy->pid()) > 0; })) << "a window";
  const std::int64_t changed = changed_code(recorder->pid());
  if (changed < 0) {
    GTEST_SKIP() << "memtrace is linked statically: it shares no code";
  }
  EXPECT_EQ(changed, 0);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(changed_code(recorder->pid()), 0) << "in windows";
  recorder->signal(SIGINT);
  EXPECT_EQ(recorder->wait().status, 0);
}

}  // namespace
}  // namespace memtrace::test
