// --trace: a line for each event, soon after it, and the same lines from a file.
#include <chrono>
#include <ctime>
#include <thread>

#include "live_test.h"
#include "support/tmux_test.h"

namespace memtrace::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class LinesTest : public LiveTest {
 protected:
  // How long after the last call a line of it is in the file.
  milliseconds delay_of_lines(const Background& memtrace) {
    run_well("$PUPPETS/share_memory memtrace-lines-" + std::to_string(::getpid()) +
             " > ids; for id in $(cat ids); do ipcrm -m $id; done");
    const auto ended = steady_clock::now();
    lines_ += kCalls;
    EXPECT_TRUE(wait_until([&] { return lines_in(memtrace.out()).size() >= lines_; }));
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - ended);
  }

  std::string read(const std::string& name) const { return text_of(dir_.file(name)); }

 private:
  static constexpr std::size_t kCalls = 22;  // of share_memory
  std::size_t lines_ = 1;                    // with the header
};

using ClearTest = TmuxTest<LiveTest>;

TEST_F(LinesTest, line_is_in_a_file_soon_after_its_event_and_silence_prints_nothing) {
  const auto memtrace = start_recording("exec $MEMTRACE shmsnoop --comm share_memory");
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(memtrace->out(), "") << "not even a header";
  // The machine is shared: once in a few tries it is as quick as promised.
  milliseconds best(10'000);
  for (int i = 0; i < 5; ++i) {
    best = std::min(best, delay_of_lines(*memtrace));
    std::this_thread::sleep_for(milliseconds(400));
  }
  EXPECT_LE(best, milliseconds(200));
  memtrace->signal(SIGINT);
  const Outcome outcome = memtrace->wait();
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  std::size_t headers = 0;
  for (const std::string& line : lines_in(outcome.out)) {
    headers += line.find("comm ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(headers, 1U) << outcome.out;
  EXPECT_NE(outcome.out.find("key=IPC_PRIVATE size=8192"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.says("Lost: none.")) << outcome.all();
}

TEST_F(LinesTest, lines_of_a_file_are_those_of_the_live_view) {
  const Outcome live = run_well("$MEMTRACE mmap --trace --format json -- $PUPPETS/map_patterns");
  run_well("$MEMTRACE record --for mmap -o m.data -- $PUPPETS/map_patterns");
  const Outcome file = run_well("$MEMTRACE report mmap --trace --format json -i m.data");
  const auto told = [](const Outcome& outcome) {
    std::vector<std::string> calls;
    for (const std::string& line : lines_in(outcome.out)) {
      const Json call = Json::parse(line);
      if (call.contains("call") && call.at("comm") == "map_patterns") {
        calls.push_back(call.at("call").dump() + call.at("bytes").dump() + call.at("file").dump());
      }
    }
    return calls;
  };
  EXPECT_GE(told(live).size(), 5U);
  EXPECT_EQ(told(live), told(file));
}

TEST_F(LinesTest, lines_come_in_order_of_time_from_all_processors) {
  const Outcome traced = run_well("$MEMTRACE mmap --trace --format csv -a -- " +
                                  std::string("sh -c 'for i in 1 2 3 4 5 6 7 8; do ls / & done > "
                                              "/dev/null; wait'"));
  const auto lines = lines_in(traced.out);
  ASSERT_GT(lines.size(), 50U);
  EXPECT_TRUE(lines[0].starts_with("time,at_ns,comm,pid,tid,call")) << lines[0];
  std::uint64_t last_ns = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::uint64_t at_ns = std::stoull(lines[i].substr(lines[i].find(',') + 1));
    EXPECT_GE(at_ns, last_ns) << lines[i];
    last_ns = at_ns;
  }
}

TEST_F(LinesTest, lines_have_the_time_of_day_in_order_to_lie_beside_a_log) {
  const Outcome outcome = run_well(
      "date +%s.%N > before; $MEMTRACE mmap --trace --format json -- /bin/true > live; "
      "$MEMTRACE record --for mmap -o m.data -- /bin/true; date +%s.%N > after; "
      "$MEMTRACE report mmap --trace --format json -i m.data > file; "
      "for line in live file; do date -d \"$(head -n 1 $line | cut -d '\"' -f 4)\" +%s.%N; done");
  const double before = std::stod(read("before"));
  const double after = std::stod(read("after"));
  std::istringstream times(outcome.out);
  std::size_t count = 0;
  for (double time = 0; times >> time; ++count) {
    EXPECT_GE(time, before);
    EXPECT_LE(time, after);
  }
  EXPECT_EQ(count, 2U) << outcome.all();
}

TEST_F(LinesTest, clock_is_that_of_perfs_files_and_perf_reads_ours) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well("perf record -q -k mono -e page-faults -c 1 -o p.data -- /bin/true; date +%s > now");
  const Json report = json_of("$MEMTRACE report faults --format json -i p.data");
  std::tm when{};
  const std::string start = report.at("start_time");
  ASSERT_NE(::strptime(start.c_str(), "%Y-%m-%dT%H:%M:%S", &when), nullptr) << start;
  when.tm_isdst = -1;
  EXPECT_NEAR(static_cast<double>(::mktime(&when)), std::stod(read("now")), 5) << start;
  run_well("$MEMTRACE record --for faults -o m.data -- /bin/true");
  const Outcome header = run_well("perf report --header-only -i m.data");
  EXPECT_NE(header.out.find("reference time: "), std::string::npos) << header.out;
}

TEST_F(LinesTest, time_of_day_chooses_a_part_of_a_recording) {
  run_well(
      "$MEMTRACE record --for faults -o f.data -- "
      "sh -c 'sleep 0.5; date +%H:%M:%S.%N > from; /bin/true; date +%H:%M:%S.%N > to; sleep 0.5'");
  const Outcome part = run_well(
      "$MEMTRACE report faults --trace --format csv -i f.data --time $(cat from),$(cat to)");
  EXPECT_NE(part.out.find(",true,"), std::string::npos) << part.all();
  EXPECT_EQ(part.out.find(",sleep,"), std::string::npos) << part.all();
}

TEST_F(LinesTest, interval_may_be_one_row) {
  // An interval without a fault has no totals of ends.
  const Outcome outcome =
      run_well("while :; do /bin/true; done & $MEMTRACE faults --line --format csv 0.3 3; kill $!");
  const auto rows = lines_in(outcome.out);
  ASSERT_EQ(rows.size(), 4U) << outcome.all();
  EXPECT_TRUE(rows[0].starts_with("time,at_ns,count,resident,minor,major,")) << rows[0];
  EXPECT_TRUE(rows[0].ends_with(",lost")) << rows[0];
  EXPECT_TRUE(outcome.says("Lost: none.")) << outcome.all();
  EXPECT_TRUE(run("$MEMTRACE faults --line --trace").says("--line beside --trace"));
  EXPECT_TRUE(run("$MEMTRACE faults --clear").says("--clear without an interval"));
}

TEST_F(LinesTest, screen_is_cleared_on_a_terminal_alone) {
  const std::string words = "$MEMTRACE slabratetop --clear 0.2 2";
  EXPECT_EQ(run_well(words).out.find('\x1b'), std::string::npos);
  const Outcome shown = run_well("script -qec \"" + words + "\" /dev/null");
  EXPECT_NE(shown.out.find("\x1b[H\x1b[2J"), std::string::npos) << shown.all();
}

// Its heading is wider than 80 columns, and went on in a second row.
TEST_F(ClearTest, first_line_of_a_report_stays_on_the_screen) {
  open_terminal(80, 24, "env -u COLUMNS \"$MEMTRACE\" slab --by cache -n 40 --clear 1 1; sleep 60");
  ASSERT_TRUE(shows("more lines: --top N")) << screen();
  EXPECT_EQ(lines_in(screen()).front().find("  loadavg: "), 8U) << screen();
}

TEST_F(LinesTest, interval_or_folded_stacks_are_refused) {
  EXPECT_TRUE(run("$MEMTRACE shm --trace 1").says("--trace has no intervals"));
  EXPECT_TRUE(run("$MEMTRACE shm --trace --format folded").says("--trace prints no folded"));
}

TEST_F(LinesTest, stacks_are_printed_below_a_line_when_they_are_a_key) {
  const std::string words = "$MEMTRACE mmap --trace --format json ";
  const Json without = traced(words + "-- $PUPPETS/map_patterns");
  EXPECT_FALSE(without.at("lines").at(0).contains("stack"));
  const Json with = traced(words + "--by stack -- $PUPPETS/map_patterns");
  EXPECT_FALSE(with.at("lines").at(0).at("stack").empty());
}

}  // namespace
}  // namespace memtrace::test
