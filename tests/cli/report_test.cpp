// memtrace report on a small recording of a known program: every view in every format, and what
// happens to output that nobody takes.
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/program.h"
#include "support/golden.h"

namespace memtrace::test {
namespace {

using ReportTest = ProgramTest;

TEST_F(ReportTest, closed_pipe_is_no_error_to_tell) {
  const Outcome outcome =
      run("$MEMTRACE report kleaks --top 0 --format json -i $CROWD | head -n 1");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_EQ(outcome.out, "{\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(run("$MEMTRACE report -i $CROWD | true").err, "");
}

TEST_F(ReportTest, output_that_cannot_be_written_is_an_error) {
  const Outcome outcome = run("$MEMTRACE report -i $CROWD > /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("write(standard output): No space left on device")) << outcome.all();
}

TEST_F(ReportTest, standard_input_is_read_like_the_file) {
  const std::string from_file = run("$MEMTRACE report --all -i $CROWD").out;
  EXPECT_EQ(run("$MEMTRACE report --all -i - < $CROWD").out, from_file);
  EXPECT_EQ(run("cat $CROWD | $MEMTRACE report --all -i -").out, from_file);
}

TEST_F(ReportTest, aliases_are_views_with_an_option_that_the_user_may_replace) {
  const std::string file = " -i $CROWD";
  const auto same = [this, &file](const std::string& alias, const std::string& view) {
    const Outcome by_alias = run("$MEMTRACE report " + alias + file);
    EXPECT_EQ(by_alias.status, 0) << by_alias.all();
    EXPECT_EQ(by_alias.out, run("$MEMTRACE report " + view + file).out) << alias;
  };
  same("kmalloc-top", "kmalloc --sort count");
  same("kmem", "slab --by stack,comm --show allocs,avg_bytes,bytes --kernel --depth 5");
  same("kmem --depth 2 --user",
       "slab --by stack,comm --show allocs,avg_bytes,bytes --user --depth 2");
  same("--by pid kmem", "slab --by pid --show allocs,avg_bytes,bytes");
  same("kpages --by comm", "pages --by comm --sort allocs");
  same("as_fault", "faults --by comm");
  same("maj_fault", "faults --by comm --sort major");
  same("slabratetop --sort allocs", "slab --sort allocs --show allocs,bytes");
  same("slabratetop --show all", "slab --sort bytes --show all");
  EXPECT_EQ(run("$MEMTRACE mmapsnoop --help").out, run("$MEMTRACE mmap --help").out);
  expect_refused("report shmsnoop -i $CROWD",
                 1,
                 "the recording has no events for the view shm",
                 "it holds kmem:kmalloc, ");
}

TEST_F(ReportTest, options_have_the_names_that_other_tools_give_them) {
  const auto same = [this](const std::string& one, const std::string& other) {
    const Outcome outcome = run("$MEMTRACE report kmalloc -i $CROWD " + one);
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    EXPECT_EQ(outcome.out, run("$MEMTRACE report kmalloc -i $CROWD " + other).out) << one;
  };
  same("-n 3", "--top 3");
  same("--limit 3 --json", "--top 3 --format json");
  same("--csv", "--format csv");
  same("--format text --csv", "--format csv");
  same("--csv --format text", "");
  same("--top 3 -n 2", "--top 2");
  same("--sort bytes_a", "--sort bytes_alloc");
  same("--since 1ms", "--time 1ms,");
  same("--until 2ms --since 1ms", "--time 1ms,2ms");
}

TEST_F(ReportTest, is_as_wide_as_the_user_says) {
  const auto report = [this](const std::string& before, const std::string& words) {
    return run(before + " $MEMTRACE report pages --by caller -i $CROWD " + words).out;
  };
  const std::string narrow = report("", "--width 40");
  EXPECT_NE(narrow.find("caller: do_wp_page\n  allocs: 17  "), std::string::npos) << narrow;
  EXPECT_EQ(report("COLUMNS=40", ""), narrow);
  EXPECT_EQ(report("COLUMNS=200", "--width 40"), narrow);
  EXPECT_EQ(report("COLUMNS=zero", ""), report("", ""));
  const std::string wide = run("$MEMTRACE report kmalloc --wide -i $CROWD").out;
  EXPECT_EQ(wide.find("thread:...ple"), std::string::npos) << wide;
  EXPECT_NE(wide.find("std::thread::_State_impl<std::thread::_Invoker<std::tuple<"),
            std::string::npos);
}

TEST_F(ReportTest, memtrace_data_is_read_unless_another_file_is_given) {
  EXPECT_EQ(run("cp $CROWD memtrace.data && $MEMTRACE report --all").out,
            run("$MEMTRACE report --all -i $CROWD").out);
}

TEST_F(ReportTest, name_without_a_number_stands_for_all_files_that_have_one) {
  const std::string whole = run("$MEMTRACE report --all -i $CROWD").out;
  EXPECT_EQ(run("cp $CROWD memtrace.data.0007 && $MEMTRACE report --all").out, whole);
  EXPECT_EQ(run("mkdir d && cp $CROWD d/x.0001 && $MEMTRACE report --all -i d/x").out, whole);
  EXPECT_EQ(run("cp $CROWD a,b.data && $MEMTRACE report --all -i a,b.data").out, whole);
}

TEST_F(ReportTest, files_that_cannot_be_one_recording_are_refused) {
  run("cp $CROWD a.data; cp $CROWD b.data");
  for (const char* words : {"-i a.data,b.data", "-i b.data -i a.data"}) {
    expect_refused(std::string("report kmalloc ") + words,
                   1,
                   words[3] == 'a' ? "a.data and b.data were recorded at the same time"
                                   : "b.data and a.data were recorded at the same time",
                   "make a report of each");
  }
  expect_refused("report -i a.data,c.data", 1, "open(c.data)", "");
}

// By origin, its default, the stacks of a view would end where they begin.
TEST_F(ReportTest, stacks_of_all_views_are_whole) {
  const std::string all = run("$MEMTRACE report --format folded -i $CROWD").out;
  std::istringstream leaks(
      run("$MEMTRACE report kleaks --by stack --top 0 --format folded -i $CROWD").out);
  std::size_t count = 0;
  for (std::string line; std::getline(leaks, line); ++count) {
    EXPECT_NE(all.find("kleaks;" + line + "\n"), std::string::npos) << line;
  }
  EXPECT_GT(count, 0U);
}

TEST_F(ReportTest, same_recording_gives_the_same_report) {
  const std::string script = "$MEMTRACE report --format json -i $CROWD";
  EXPECT_EQ(run(script).out, run(script).out);
}

// A golden of a command that reads the file by its name alone: findings repeat how it was given.
TEST_F(ReportTest, without_a_view_findings_are_on_one_screen) {
  run("cp $CROWD memtrace.data");
  const Outcome text = run("$MEMTRACE report");
  EXPECT_EQ(text.status, 0) << text.all();
  EXPECT_LE(std::ranges::count(text.out, '\n'), 60);
  expect_golden("crowd/first_screen.txt", text.out);
  expect_golden("crowd/first_screen.json", run("$MEMTRACE report --format json").out);
}

TEST_F(ReportTest, each_finding_s_command_shows_more_of_it) {
  run("cp $CROWD 'a b.data'");
  const auto screen =
      nlohmann::json::parse(run("$MEMTRACE report --format json -i 'a b.data'").out);
  const auto& rows = screen.at("tables").at(0).at("rows");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const std::string command = row.at("command");
    ASSERT_TRUE(command.starts_with("memtrace report ")) << command;
    const Outcome more = run("$MEMTRACE" + command.substr(command.find(' ')));
    EXPECT_EQ(more.status, 0) << command << more.all();
    EXPECT_GT(more.out.size(), 100U) << command;
  }
}

// "kmalloc" and its words behind memtrace report; the first word names the golden file.
struct View {
  const char* name;
  const char* words;
  const char* recording = "crowd";  // and the folder of its golden files

  // For the test's name in ctest, which else has the bytes of the struct.
  friend std::ostream& operator<<(std::ostream& out, const View& view) { return out << view.name; }
};

using Shape = std::tuple<View, std::string>;

class GoldenReportTest : public ProgramTest, public testing::WithParamInterface<Shape> {};

TEST_P(GoldenReportTest, is_as_reviewed) {
  const auto& [view, format] = GetParam();
  const std::string name(view.recording);
  const Outcome outcome = run("$MEMTRACE report -i $DATA/" + name + "/" + name + ".data --format " +
                              format + " " + view.words);
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_EQ(outcome.err, "");
  const std::string ending = format == "text" ? "txt" : format;
  expect_golden(name + "/" + view.name + "." + ending, outcome.out);
}

constexpr auto kViews = std::to_array<View>({
    {"overview", "--all"},
    {"kmalloc", "kmalloc --top 5"},
    {"kmalloc_closing", "kmalloc --by caller,comm --min 2 --exclude perf_event --top 3"},
    {"kmalloc_depth", "kmalloc --depth 3 --top 5"},
    {"slab", "slab --top 8"},
    {"pages", "pages --top 4"},
    {"kleaks", "kleaks --top 4"},
    {"faults", "faults --top 4"},
    {"faults_access", "faults --by access,comm"},
    {"growth", "growth --top 4"},
    {"growth_kind", "growth --by comm,kind"},
    {"path", "path --top 4"},
    {"ledger", "ledger"},
    {"ledger_mapping", "ledger --by process,mapping"},
    {"count", "count"},
    {"count_hist", "count --by comm --hist bytes_req"},
    {"count_log2", "count --by 'event,log2(bytes_req)' --top 6"},
    {"faults_hist", "faults --by access --hist"},
    {"count_sum", "count --by event,comm --top 6"},
    {"slab_callers", "slab --by caller --show bytes,bytes_req,allocs,waste_percent --top 3"},
    {"slab_summary", "slab --by user --summary"},
    {"pages_callers", "pages --by caller --top 4 --summary"},
    {"calls", "calls", "arenas"},
    {"calls_callers", "calls --by function,caller --top 6", "arenas"},
    {"arenas", "arenas", "arenas"},
    {"stalls", "stalls", "pressure"},
    {"stalls_kind", "stalls --by cgroup,kind --before 50ms", "pressure"},
    {"slab_truth", "slab --truth --top 4", "pressure"},
    {"kleaks_truth", "kleaks --by cache --truth --top 4", "pressure"},
});

INSTANTIATE_TEST_SUITE_P(
    of,
    GoldenReportTest,
    testing::Combine(testing::ValuesIn(kViews),
                     testing::Values(std::string("text"), "json", "csv", "folded")),
    [](const auto& each) {
      return std::string(std::get<0>(each.param).name) + "_" + std::get<1>(each.param);
    });

constexpr auto kTrees = std::to_array<View>({
    {"kmalloc_tree", "kmalloc --tree"},
    {"kmalloc_callees", "kmalloc --tree=callee --sort count"},
    {"kleaks_tree", "kleaks --tree --by comm,stack"},
    {"path_tree", "path --tree --by stack,layer --sort allocated"},
});

INSTANTIATE_TEST_SUITE_P(of_calls,
                         GoldenReportTest,
                         testing::Combine(testing::ValuesIn(kTrees),
                                          testing::Values(std::string("text"), "json", "csv")),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param).name) + "_" +
                                  std::get<1>(each.param);
                         });

}  // namespace
}  // namespace memtrace::test
