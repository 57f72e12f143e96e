// The formats of other tools, opened by these tools: their totals are those of --format json.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"

namespace memtrace::test {
namespace {

using Json = nlohmann::json;

class ReadersTest : public ProgramTest {
 protected:
  std::uint64_t total(const std::string& view, const std::string& name) {
    const Outcome outcome = run("$MEMTRACE report " + view + " --format json -i $CROWD");
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    return Json::parse(outcome.out).at("totals").at(name);
  }

  // What the script prints, which ends well.
  std::string well(const std::string& script) {
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.status, 0) << script << "\n" << outcome.all();
    return outcome.out;
  }

  bool has(const std::string& test) { return run(test).status == 0; }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// All that stand between the words `begin` and `end`, in lines of their own.
std::vector<std::string> lines_between(const std::string& text,
                                       std::string_view begin,
                                       std::string_view end) {
  std::vector<std::string> found;
  bool is_within = false;
  for (const std::string& line : lines_of(text)) {
    is_within = is_within && line != end;
    if (is_within) {
      found.push_back(line);
    }
    is_within = is_within || line == begin;
  }
  return found;
}

class PprofTest : public ReadersTest {
 protected:
  void SetUp() override {
    if (!has(kGo + "[ -n \"$GO\" ] && $GO tool pprof -h 2>&1 | grep -q raw")) {
      GTEST_SKIP() << "go tool pprof is not installed (Debian: golang-go)";
    }
  }

  std::string pprof(const std::string& words) {
    return well(kGo + "PPROF_TMPDIR=. HOME=. $GO tool pprof " + words);
  }

  const std::string kGo = "GO=$(command -v go || ls /usr/lib/go*/bin/go 2>/dev/null | tail -n 1); ";
};

TEST_F(PprofTest, all_costs_are_sample_types_with_their_totals) {
  well("$MEMTRACE report kmalloc --format pprof -o k.pb.gz -i $CROWD");
  const std::string raw = pprof("-raw k.pb.gz");
  const auto samples = lines_between(raw, "Samples:", "Locations");
  ASSERT_FALSE(samples.empty()) << raw;
  EXPECT_EQ(samples[0], "count/count bytes_req/bytes bytes_alloc/bytes[dflt] waste/bytes");
  std::array<std::uint64_t, 4> sums{};
  for (const std::string& line : samples) {
    std::istringstream words(line.substr(0, line.find(':')));
    for (std::uint64_t& sum : sums) {
      std::uint64_t value = 0;
      words >> value;  // lines of labels have none
      sum += words.fail() ? 0 : value;
    }
  }
  EXPECT_EQ(sums[0], total("kmalloc", "count")) << raw;
  EXPECT_EQ(sums[1], total("kmalloc", "bytes_req"));
  EXPECT_EQ(sums[2], total("kmalloc", "bytes_alloc"));
  EXPECT_EQ(sums[3], total("kmalloc", "waste"));
}

TEST_F(PprofTest, processes_are_labels_and_files_are_mappings) {
  well("$MEMTRACE report faults --format pprof -o f.pb.gz -i $CROWD");
  const std::string raw = pprof("-raw f.pb.gz");
  EXPECT_NE(raw.find("comm:["), std::string::npos) << raw;
  EXPECT_NE(raw.find("pid:["), std::string::npos) << raw;
  EXPECT_NE(raw.find("libc.so.6"), std::string::npos) << raw;
  EXPECT_NE(raw.find("[FN][FL][LN][IN]"), std::string::npos) << raw;
}

TEST_F(PprofTest, the_heaviest_function_is_the_one_of_the_report) {
  well("$MEMTRACE report kmalloc --format pprof -o k.pb.gz -i $CROWD");
  const std::string top = pprof("-top -cum -sample_index=bytes_alloc k.pb.gz");
  EXPECT_NE(top.find("Type: bytes_alloc"), std::string::npos) << top;
  EXPECT_NE(top.find("entry_SYSCALL_64_after_hwframe"), std::string::npos) << top;
  EXPECT_NE(pprof("-comments k.pb.gz").find("Lost: none."), std::string::npos);
}

TEST_F(ReadersTest, speedscope_imports_each_cost_as_a_profile) {
  const std::string package = kPackages + std::string("/speedscope");
  if (!has("node --version && [ -d " + package + " ]")) {
    GTEST_SKIP() << "node or the package speedscope is not installed";
  }
  well("$MEMTRACE report kmalloc --format speedscope -o k.json -i $CROWD");
  const std::string read =
      well("node " TEST_SOURCE_DIR "/cli/readers/speedscope.js " + package + " k.json");
  const auto line = [this](const std::string& name, const std::string& unit) {
    return "kmalloc: " + name + "\t" + unit + "\t" + std::to_string(total("kmalloc", name)) + "\t";
  };
  EXPECT_NE(read.find(line("bytes_alloc", "bytes")), std::string::npos) << read;
  EXPECT_NE(read.find(line("bytes_req", "bytes")), std::string::npos) << read;
  EXPECT_NE(read.find(line("count", "none")), std::string::npos) << read;
}

TEST_F(ReadersTest, firefox_profiler_imports_each_cost_as_a_track) {
  const std::string program =
      kPackages + std::string("/@firefox-devtools/profiler-cli/dist/profiler-cli.js");
  if (!has("node --version && [ -f " + program + " ]")) {
    GTEST_SKIP() << "node or Firefox Profiler's command line is not installed";
  }
  well("$MEMTRACE report kmalloc --format firefox -o k.json -i $CROWD");
  const std::string shown =
      well("sh " TEST_SOURCE_DIR "/cli/readers/firefox.sh " + program + " k.json");
  const auto self_sum = [&shown](const std::string& track) {
    const Json functions = Json::parse(lines_between(shown, track, "end").at(0));
    EXPECT_EQ(functions.at("functions").size(), functions.at("totalFunctionCount"));
    std::uint64_t sum = 0;
    for (const Json& function : functions.at("functions")) {
      sum += function.at("selfSamples").get<std::uint64_t>();
    }
    return std::pair(functions.at("friendlyThreadName").get<std::string>(), sum);
  };
  const auto first = self_sum("t-0");
  const auto second = self_sum("t-1");
  EXPECT_EQ(first.first, "kmalloc: bytes_alloc");
  EXPECT_EQ(first.second, total("kmalloc", "bytes_alloc"));
  EXPECT_EQ(second.first, "kmalloc: count");
  EXPECT_EQ(second.second, total("kmalloc", "count"));
  EXPECT_NE(shown.find("Caveat: Lost: none."), std::string::npos) << shown;
}

TEST_F(ReadersTest, all_views_are_in_one_file_for_speedscope) {
  const Json file = Json::parse(well("$MEMTRACE report --format speedscope -i $CROWD"));
  std::map<std::string, std::uint64_t> totals;
  for (const Json& profile : file.at("profiles")) {
    totals[profile.at("name")] = profile.at("endValue");
  }
  EXPECT_EQ(totals["kmalloc: bytes_alloc"], total("kmalloc", "bytes_alloc"));
  EXPECT_EQ(totals["faults: count"], total("faults", "count"));
}

TEST_F(ReadersTest, promtool_finds_nothing_wrong_with_the_metrics) {
  if (!has("promtool --version")) {
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  }
  for (const std::string view : {"", "kmalloc --by comm", "slab --by cache", "count", "faults"}) {
    well("$MEMTRACE report " + view + " --format openmetrics -i $CROWD -o m.prom");
    EXPECT_EQ(well("promtool check metrics < m.prom 2>&1"), "") << view;
  }
}

TEST_F(ReadersTest, prometheus_answers_with_the_figure) {
  if (!has("prometheus --version && prometheus-node-exporter --version && python3 --version")) {
    GTEST_SKIP() << "prometheus or its node exporter is not installed";
  }
  well(
      "mkdir collected; $MEMTRACE report kmalloc --format openmetrics -i $CROWD -o "
      "collected/k.prom");
  const std::string script = "sh " TEST_SOURCE_DIR "/cli/readers/prometheus.sh collected ";
  EXPECT_EQ(well(script + "memtrace_kmalloc_alloc_bytes"),
            std::to_string(total("kmalloc", "bytes_alloc")) + "\n");
  EXPECT_EQ(well(script + "node_textfile_scrape_error"), "0\n");
}

TEST_F(ReadersTest, metrics_are_the_totals_and_rows_of_the_report) {
  const std::string text =
      well("$MEMTRACE report kmalloc --by comm --format openmetrics -i $CROWD");
  EXPECT_NE(text.find("\nmemtrace_kmalloc_alloc_bytes " +
                      std::to_string(total("kmalloc", "bytes_alloc")) + "\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nmemtrace_kmalloc_by_comm_alloc_bytes{comm=\""), std::string::npos) << text;
}

class PageTest : public ReadersTest {
 protected:
  void SetUp() override {
    if (!has("command -v chromium")) {
      GTEST_SKIP() << "chromium is not installed";
    }
    well("$MEMTRACE report kmalloc --format html -i $CROWD -o k.html");
  }

  Json seen(const std::string& page = "k.html", const std::string& script = "page.js") {
    return Json::parse(well("sh " TEST_SOURCE_DIR "/cli/readers/browser.sh " + page +
                            " " TEST_SOURCE_DIR "/cli/readers/" + script));
  }
};

TEST_F(PageTest, the_page_shows_searches_zooms_and_sorts) {
  const Json seen = this->seen();
  const std::string text = well("$MEMTRACE report kmalloc -i $CROWD");
  const std::string whole = seen.at("whole");  // "all: 68.9 KiB, 100.00 %"
  EXPECT_NE(text.find("bytes_alloc " + whole.substr(5, whole.find(',') - 5)), std::string::npos)
      << whole;
  // The same from folded stacks, whose last frame is the innermost: "a;b_[k] 12".
  const std::string folded = "$MEMTRACE report kmalloc --format folded -i $CROWD | ";
  EXPECT_EQ(seen.at("matched").get<std::string>() + "\n",
            well(folded + "awk '{ all += $NF } /kmalloc/ { of += $NF } "
                          "END { printf \"matched: %.2f %%\\n\", 100 * of / all }'"));
  EXPECT_GT(seen.at("boxes").get<int>(), seen.at("boxes_zoomed").get<int>());
  const std::string zoomed = seen.at("zoomed");
  EXPECT_TRUE(zoomed.starts_with(seen.at("stack").back().get<std::string>())) << seen;
  EXPECT_EQ(seen.at("rows_first"), seen.at("rows_largest"));
  EXPECT_EQ(seen.at("sorted"), "descending");
  EXPECT_EQ(seen.at("inverse_first").get<std::string>() + "\n",
            well(folded +
                 "sed 's/.*;\\(.*\\)_.k. /\\1 /' | awk '{ of[$1] += $2 } "
                 "END { for (name in of) print of[name], name }' | sort -rn | sed -n '1s/.* //p'"));
}

TEST_F(PageTest, a_window_cuts_graph_and_tables) {
  const Json seen = this->seen();
  EXPECT_TRUE(seen.at("window").get<std::string>().starts_with("selected: ")) << seen;
  EXPECT_TRUE(seen.at("window_head").get<std::string>().starts_with("kmalloc by process: "))
      << seen;
  const auto sum = [&seen](std::size_t figure) {
    return seen.at("first_half").at(figure).get<std::uint64_t>() +
           seen.at("second_half").at(figure).get<std::uint64_t>();
  };
  EXPECT_EQ(sum(0), total("kmalloc", "bytes_alloc"));
  EXPECT_EQ(sum(1), total("kmalloc", "count"));
  EXPECT_GT(seen.at("first_half").at(0), 0);
  EXPECT_GT(seen.at("second_half").at(0), 0);
  EXPECT_NE(seen.at("window_graph"), seen.at("whole"));
  EXPECT_EQ(seen.at("whole_again"), seen.at("whole"));
  EXPECT_GT(seen.at("window_stack"), 1);
  const auto counts = seen.at("window_sorted").get<std::vector<std::string>>();
  ASSERT_GT(counts.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(counts, [](const std::string& left, const std::string& right) {
    return std::stoul(left) > std::stoul(right);
  })) << seen;
}

// Of each table, total and histogram of all views.
TEST_F(PageTest, two_halves_of_a_recording_add_up_to_the_whole) {
  well("$MEMTRACE report --format html -i $CROWD -o all.html");
  const Json seen = this->seen("all.html", "halves.js");
  EXPECT_EQ(seen.at("wrong"), Json::array());
  EXPECT_GT(seen.at("parts"), 10) << seen;
  EXPECT_GT(seen.at("sums"), 500) << seen;
  const Json& blank = seen.at("blank");
  EXPECT_NE(std::ranges::find(blank, "faults, by stack, p99"), blank.end()) << blank;
  EXPECT_LT(blank.size(), 12U) << blank;
  for (const Json& text : seen.at("texts")) {
    EXPECT_EQ(text.at(3), "") << "nothing is of the whole recording: " << text;
    for (const Json& title : text.at(1)) {
      const std::string words = title;
      EXPECT_TRUE(words.find(": 0 ns to 4 ms") != std::string::npos || title == text.at(1).at(0) ||
                  words == "What limits this" || words == "How it was recorded")
          << text;
    }
  }
}

TEST_F(PageTest, losses_and_kills_are_drawn_and_names_are_text) {
  well(
      "sed -i -e 's/\"losses\":\\[\\]/\"losses\":[{\"from_ns\":1000000,\"to_ns\":2000000,"
      "\"count\":1234}]/' -e 's/\"marks\":\\[\\]/\"marks\":[{\"at_ns\":3000000,"
      "\"text\":\"OOM kill: \\\\u003cscript>x (7)\"}]/' k.html && grep -q '1234' k.html");
  const Json seen = this->seen();
  EXPECT_EQ(seen.at("lost"), Json::array({"1,234 events lost"}));
  EXPECT_EQ(seen.at("marks"), Json::array({"OOM kill: &lt;script&gt;x (7)"}));
  EXPECT_EQ(seen.at("scripts"), 3);  // the data, the page's own, and this test's
}

TEST_F(ReadersTest, the_picture_is_xml_with_the_whole_cost) {
  well("$MEMTRACE report kmalloc --format svg -i $CROWD -o k.svg");
  const std::string whole = run("$MEMTRACE report kmalloc --format folded -i $CROWD | awk '{ sum "
                                "+= $NF } END { print sum }'")
                                .out;
  EXPECT_EQ(whole, std::to_string(total("kmalloc", "bytes_alloc")) + "\n");
  if (!has("xmllint --version")) {
    GTEST_SKIP() << "xmllint is not installed (Debian: libxml2-utils)";
  }
  well("xmllint --noout k.svg");
  EXPECT_EQ(well("xmllint --xpath 'count(//*[local-name()=\"script\"])' k.svg"), "0\n");
}

TEST_F(ReadersTest, a_report_in_a_file_is_the_one_on_standard_output) {
  const std::string text = well("$MEMTRACE report kmalloc -i $CROWD");
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o report.txt; cat report.txt"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o -"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o /dev/stdout"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o /dev/stdout | cat"), text);
  EXPECT_EQ(well("[ -L /dev/stdout ]"), "");
  EXPECT_EQ(well("ls"), "report.txt\n");  // nothing is left beside it
}

TEST_F(ReadersTest, a_file_that_cannot_be_written_is_as_it_was) {
  const Outcome none = run("$MEMTRACE report kmalloc -i $CROWD -o none/report.txt");
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(none.says("open(none/report.txt.new-")) << none.all();
  const Outcome folder = run("mkdir d; $MEMTRACE report kmalloc -i $CROWD -o d");
  EXPECT_EQ(folder.status, 1);
  EXPECT_TRUE(folder.says("open(d)")) << folder.all();
  EXPECT_EQ(well("ls"), "d\n");
}

TEST_F(ReadersTest, formats_that_do_not_suit_are_refused) {
  expect_refused("report --format pprof -i $CROWD",
                 2,
                 "--format pprof without a view",
                 "it holds one view: memtrace report VIEW --format pprof");
  expect_refused("report kmalloc --format massif -i $CROWD",
                 2,
                 "--format massif of the view kmalloc",
                 "it holds the view heap alone");
  expect_refused("report kmalloc --trace --format json -o x -i $CROWD", 2, "", "");
}

}  // namespace
}  // namespace memtrace::test
